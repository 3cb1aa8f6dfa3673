%% lapse_delay_exchange: an exchange type "x-delayed-message" for tests, for brokers 3.10 to 3.12.
%%
%% Debian has no package of the delayed-message plugin. This plugin offers the same interface, so
%% that the mode "plugin" can be tested on every machine: argument x-delayed-type names the type
%% that routes, header x-delay (an integer, milliseconds) says when. It is test equipment and
%% never part of an image.
%%
%% Guarantees: a delayed message is routed once, when its time has come, by the bindings of that
%% moment; until then it is in no queue, so a publisher's confirm comes at once.
%% Limits, on purpose:
%% * Sleeping messages live in memory of one node and are gone when the broker ends, killed or
%%   not. Tests want exactly that loss; a broker in production keeps them on disk.
%% * The clock is monotonic: a step of the wall clock moves nothing.
%% * A header of another kind than an integer is as good as none; the other plugin takes some
%%   texts and floats, and closes the connection at other texts.
%% * An x-delayed-type that nobody knows is refused with precondition_failed on the channel, where
%%   the other plugin closes the connection.
%% * No statistics, no limit on memory, no cluster.

-module(lapse_delay_exchange).
-behaviour(rabbit_exchange_type).

-include_lib("rabbit_common/include/rabbit.hrl").

-export([description/0, serialise_events/0, route/2, info/1, info/2]).
-export([validate/1, validate_binding/2, create/2, delete/3, policy_changed/2]).
-export([add_binding/3, remove_bindings/3, assert_args_equivalence/2]).
-export([deliver/2]).

-define(TYPE, <<"x-delayed-message">>).
-define(ARGUMENT, <<"x-delayed-type">>).
-define(HEADER, <<"x-delay">>).

%% Above this the delay counts as none, as with the plugin that we stand in for.
-define(MAX_DELAY, 16#FFFFFFFF).

-rabbit_boot_step({?MODULE,
                   [{description, "exchange type x-delayed-message for tests"},
                    {mfa, {rabbit_registry, register, [exchange, ?TYPE, ?MODULE]}},
                    {cleanup, {rabbit_registry, unregister, [exchange, ?TYPE]}},
                    {requires, rabbit_registry},
                    {enables, kernel_ready}]}).

description() ->
    [{description, <<"Delayed messages for tests of Lapse, in memory only">>}].

%% Runs in the publishing channel. No destination now means: no queue, confirm at once.
route(X, Delivery = #delivery{message = Message}) ->
    case delay(Message) of
        0 ->
            (module(X)):route(X, Delivery);
        Delay ->
            lapse_delay_store:keep(Delay, {X#exchange.name, Message}),
            []
    end.

%% Runs in the store when the time has come. Exchange and bindings are those of now: an exchange
%% that was deleted takes its messages with it, one declared again receives them.
deliver(Name, Message) ->
    case rabbit_exchange:lookup(Name) of
        {ok, X = #exchange{type = 'x-delayed-message'}} ->
            Delivery = rabbit_basic:delivery(false, false, Message, undefined),
            Queues = rabbit_exchange:route(X#exchange{type = delayed_type(X)}, Delivery),
            rabbit_amqqueue:deliver(rabbit_amqqueue:lookup(Queues), Delivery);
        _ ->
            ok
    end.

delay(#basic_message{content = Content}) ->
    case rabbit_misc:table_lookup(headers(Content), ?HEADER) of
        {_, Delay} when is_integer(Delay), Delay > 0, Delay =< ?MAX_DELAY -> Delay;
        _ -> 0
    end.

headers(Content) ->
    case rabbit_basic:extract_headers(Content) of
        undefined -> [];
        Headers -> Headers
    end.

%% Refuses a declaration whose argument is missing, is no text, names no type, or ourselves.
validate(X = #exchange{name = Name, arguments = Arguments}) ->
    case rabbit_misc:table_lookup(Arguments, ?ARGUMENT) of
        {longstr, ?TYPE} -> refuse(Name);
        {longstr, Type} ->
            is_exchange_type(Type) orelse refuse(Name),
            (module(X)):validate(X);
        _ -> refuse(Name)
    end.

refuse(Name) ->
    rabbit_misc:protocol_error(precondition_failed,
                               "~s needs the argument '~s', naming another exchange type",
                               [rabbit_misc:rs(Name), ?ARGUMENT]).

is_exchange_type(Type) ->
    case rabbit_registry:binary_to_type(Type) of
        {error, not_found} -> false;
        Atom -> element(1, rabbit_registry:lookup_module(exchange, Atom)) =:= ok
    end.

delayed_type(#exchange{arguments = Arguments}) ->
    {longstr, Type} = rabbit_misc:table_lookup(Arguments, ?ARGUMENT),
    binary_to_existing_atom(Type, utf8).

module(X) ->
    {ok, Module} = rabbit_registry:lookup_module(exchange, delayed_type(X)),
    Module.

%% Another x-delayed-type on a second declaration goes unnoticed, as with the other plugin.
assert_args_equivalence(X, New) -> rabbit_exchange:assert_args_equivalence(X, New).

%% Everything else is the business of the type that routes. No built-in type wants its binding
%% events numbered, so neither do we.
serialise_events() -> false.

validate_binding(X, Binding) -> (module(X)):validate_binding(X, Binding).
create(Tx, X) -> (module(X)):create(Tx, X).
delete(Tx, X, Bindings) -> (module(X)):delete(Tx, X, Bindings).
policy_changed(Old, New) -> (module(New)):policy_changed(Old, New).
add_binding(Tx, X, Binding) -> (module(X)):add_binding(Tx, X, Binding).
remove_bindings(Tx, X, Bindings) -> (module(X)):remove_bindings(Tx, X, Bindings).
info(X) -> (module(X)):info(X).
info(X, Items) -> (module(X)):info(X, Items).
