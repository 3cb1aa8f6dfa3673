{application, lapse_test_delay_exchange,
 [{description, "Exchange type x-delayed-message for tests of Lapse, in memory only"},
  {vsn, "1.0.0"},
  {modules, [lapse_delay_app, lapse_delay_exchange, lapse_delay_store]},
  {registered, [lapse_delay_store]},
  {mod, {lapse_delay_app, []}},
  {applications, [kernel, stdlib, rabbit_common, rabbit]},
  {env, []}]}.
