import type { CassetteMatch, CassetteReply, CassetteRule } from './tape/cassette.ts';
import type { MockRequest } from './mock-request.ts';

export interface Matcher {
  /** The reply of the first rule that matches; counts the call for `times` and `attempt`. */
  match(request: MockRequest): CassetteReply | undefined;
}

/** Starts every counter of the rules at zero. */
export function createMatcher(rules: readonly CassetteRule[]): Matcher {
  const calls = rules.map(() => 0);
  return {
    match(request) {
      for (const [i, { match = {}, reply }] of rules.entries()) {
        if (!matchesRequest(match, request)) continue;
        const call = (calls[i] ?? 0) + 1;
        calls[i] = call;
        if (matchesCall(match, call)) return reply;
      }
      return undefined;
    },
  };
}

function matchesRequest(match: CassetteMatch, request: MockRequest): boolean {
  const { model, text, turn, protocol, stream } = match;
  return (
    (model === undefined || matchesPattern(model, request.model)) &&
    (text === undefined || request.userText.toLowerCase().includes(text.toLowerCase())) &&
    (turn === undefined || turn === request.turn) &&
    (protocol === undefined || [protocol].flat().includes(request.protocol)) &&
    (stream === undefined || stream === request.stream)
  );
}

function matchesCall({ times, attempt }: CassetteMatch, call: number): boolean {
  return (times === undefined || call <= times) && (attempt === undefined || call === attempt);
}

/** `*` matches any characters; walks the literal parts, so a hostile pattern stays linear. */
function matchesPattern(pattern: string, name: string): boolean {
  const parts = pattern.split('*');
  const [first = '', ...rest] = parts;
  const last = rest.pop();
  if (last === undefined) return pattern === name;
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) {
    return false;
  }
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= name.length - last.length;
}
