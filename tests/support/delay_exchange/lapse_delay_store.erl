%% lapse_delay_store: messages asleep in memory, each handed on when its time has come.
%%
%% Guarantees: in order of due time, a few milliseconds late at most while the machine keeps up.
%% Publishers write into the table themselves and call the process only when it must wake earlier
%% than it planned, so a hundred thousand messages cost it nothing until they are due.

-module(lapse_delay_store).
-behaviour(gen_server).

-export([start_link/0, keep/2]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2]).

%% Later than any due time: the process has no plan, so everybody must tell it.
-define(NEVER, 16#7FFFFFFFFFFFFFFF).

%% How many are handed on before the process looks at its mailbox again.
-define(BATCH, 500).

start_link() ->
    gen_server:start_link({local, ?MODULE}, ?MODULE, [], []).

%% keep(Milliseconds, {ExchangeName, Message})
keep(Delay, {Name, Message}) ->
    %% The clock is cut off to milliseconds; one more keeps us from ever being early.
    Due = erlang:monotonic_time(millisecond) + Delay + 1,
    %% The unique number keeps apart what is due in the same millisecond, in order of arrival.
    ets:insert(?MODULE, {{Due, erlang:unique_integer([monotonic])}, Name, Message}),
    case atomics:get(persistent_term:get(?MODULE), 1) > Due of
        true -> gen_server:cast(?MODULE, plan);
        false -> ok
    end.

init([]) ->
    %% Being on time is the whole duty, also while channels and queues are busy.
    process_flag(priority, high),
    ?MODULE = ets:new(?MODULE, [ordered_set, public, named_table, {write_concurrency, true}]),
    Plan = atomics:new(1, [{signed, true}]),
    atomics:put(Plan, 1, ?NEVER),
    persistent_term:put(?MODULE, Plan),
    {ok, #{plan => Plan, timer => undefined}}.

handle_call(_, _, State) -> {reply, unknown, State}.

handle_cast(plan, State) -> {noreply, plan(State)}.

handle_info(due, State) ->
    deliver_due(erlang:monotonic_time(millisecond), ?BATCH),
    {noreply, plan(State#{timer := undefined})};
handle_info(_, State) ->
    {noreply, State}.

%% "Never" is announced before the table is read: who inserts after the reading sees it and calls
%% again, who inserted before is in what we read.
plan(State = #{plan := Plan, timer := Timer}) ->
    cancel(Timer),
    atomics:put(Plan, 1, ?NEVER),
    case ets:first(?MODULE) of
        '$end_of_table' ->
            State#{timer := undefined};
        {Due, _} ->
            atomics:put(Plan, 1, Due),
            State#{timer := erlang:send_after(Due, self(), due, [{abs, true}])}
    end.

cancel(undefined) -> ok;
cancel(Timer) -> erlang:cancel_timer(Timer).

deliver_due(_, 0) -> ok;
deliver_due(Now, Left) ->
    case ets:first(?MODULE) of
        Key = {Due, _} when Due =< Now ->
            [{_, Name, Message}] = ets:take(?MODULE, Key),
            %% One message that cannot be handed on must not hold up the others.
            try lapse_delay_exchange:deliver(Name, Message)
            catch Class:Reason ->
                rabbit_log:error("lapse_delay_store: message lost: ~p:~p", [Class, Reason])
            end,
            deliver_due(Now, Left - 1);
        _ ->
            ok
    end.
