import { collectSteps } from '../../../../core/turns/in-turns.ts';
import type { Steps } from '../../../../core/turns/in-turns.ts';
import type { TokenLogprob } from '../../../canonical/canonical.ts';
import { listOf, textOf } from '../../fields.ts';
import type { Members } from '../../fields.ts';

/** `logprobsResult` of a candidate; empty when there is none. */
export function readLogprobs(result: Members): Steps<TokenLogprob[]> {
  const tops = listOf(result, 'topCandidates');
  return collectSteps(listOf(result, 'chosenCandidates'), (chosen, index) => [
    { ...readToken(chosen), top: listOf(tops[index] ?? {}, 'candidates').map(readToken) },
  ]);
}

function readToken(candidate: Members): Omit<TokenLogprob, 'top'> {
  const { logProbability } = candidate;
  return {
    token: textOf(candidate, 'token') ?? '',
    logprob: typeof logProbability === 'number' ? logProbability : 0,
  };
}

export function* writeLogprobs(tokens: readonly TokenLogprob[]): Steps<object> {
  return {
    chosenCandidates: yield* collectSteps(tokens, (token) => [writeToken(token)]),
    topCandidates: yield* collectSteps(tokens, ({ top }) => [{ candidates: top.map(writeToken) }]),
  };
}

function writeToken({ token, logprob }: Omit<TokenLogprob, 'top'>): object {
  return { token, logProbability: logprob };
}
