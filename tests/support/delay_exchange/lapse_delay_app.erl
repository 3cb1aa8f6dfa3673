%% lapse_delay_app: starts the store and keeps it alive. What slept is lost if it falls.

-module(lapse_delay_app).
-behaviour(application).
-behaviour(supervisor).

-export([start/2, stop/1, init/1]).

start(_Type, []) -> supervisor:start_link(?MODULE, []).

stop(_State) -> ok.

init([]) ->
    {ok, {#{strategy => one_for_one, intensity => 10, period => 10},
          [#{id => lapse_delay_store, start => {lapse_delay_store, start_link, []}}]}}.
