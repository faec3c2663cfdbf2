import { awaitedOf, isDenied, isRunnable } from '../tools/tool-use.ts';
import type { ToolUse } from '../tools/tool-use.ts';
import type { TurnState } from './turn-state.ts';

/** Requirement sessions.turn.errors. */
const MAX_TOOL_ROUNDS = 50;

/** Next thing to do in a turn. */
export type Step =
  /** Take up the next message, or continue the turn that was interrupted by waiting. */
  | { readonly type: 'start' }
  /** Take up the next message and give it up at once: it was interrupted before its turn. */
  | { readonly type: 'skip' }
  | { readonly type: 'ask' }
  | { readonly type: 'deny'; readonly uses: readonly ToolUse[] }
  | { readonly type: 'run'; readonly uses: readonly ToolUse[] }
  /** `ids` of the events that the client must answer. */
  | { readonly type: 'wait'; readonly ids: readonly string[] }
  | { readonly type: 'back_off' }
  /** The client interrupted. */
  | { readonly type: 'stop' }
  /** Too many rounds of tools. */
  | { readonly type: 'give_up' }
  /** Nothing, until more input arrives. */
  | { readonly type: 'rest' };

/** A function of only the events, so that every process continues from them in the same way. */
export function nextStep(state: TurnState): Step {
  switch (state.phase) {
    case 'terminated':
      return { type: 'rest' };
    case 'idle':
      return whenIdle(state);
    case 'waiting':
      return whenWaiting(state);
    case 'rescheduled':
      return { type: state.isInterrupted ? 'stop' : 'back_off' };
    case 'running':
  }
  return whenRunning(state);
}

function whenIdle({ isInterrupted, hasMessage }: TurnState): Step {
  if (!hasMessage) return { type: 'rest' };
  return { type: isInterrupted ? 'skip' : 'start' };
}

function whenWaiting(state: TurnState): Step {
  if (state.isInterrupted) return { type: 'stop' };
  const ids = state.uses.flatMap(awaitedOf);
  if (ids.length === 0) return { type: 'start' };
  const isTold = ids.length === state.waitingFor.length;
  return isTold ? { type: 'rest' } : { type: 'wait', ids };
}

function whenRunning(state: TurnState): Step {
  if (state.isInterrupted) return { type: 'stop' };
  if (state.rounds > MAX_TOOL_ROUNDS) return { type: 'give_up' };
  const denied = state.uses.filter(isDenied);
  if (denied.length > 0) return { type: 'deny', uses: denied };
  const runnable = state.uses.filter(isRunnable);
  if (runnable.length > 0) return { type: 'run', uses: runnable };
  const ids = state.uses.flatMap(awaitedOf);
  return ids.length > 0 ? { type: 'wait', ids } : { type: 'ask' };
}
