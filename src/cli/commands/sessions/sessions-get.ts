import { isRecord } from '../../../client/http/guards.ts';
import { sessionCost } from '../../details/session-cost.ts';
import { getResource } from '../../resources/get-resource.ts';
import type { SessionView } from '../../../client/sessions.ts';
import { waitingLines } from '../../waiting/waiting-words.ts';
import { outcomeText } from '../../output/run-line.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'sessions get'> = (input) => {
  const named = input.args.id;
  return getResource(input, { kind: 'sessions', named, toRows }, (client, signal) =>
    client.sessions.get(named, signal),
  );
};

function toRows(view: Readonly<Record<string, unknown>>) {
  const { waiting, outcome, ...session } = view as unknown as SessionView;
  const { agent, usage, budget, ...rest } = session as Readonly<Record<string, unknown>>;
  const { list_cost: _whole, cost: _exact, ...tokens } = isRecord(usage) ? usage : {};
  return {
    ...rest,
    ...(outcome && { outcome: outcomeText(outcome) }),
    ...(waiting && { waiting: waitingLines(session.id, waiting) }),
    agent,
    ...(isRecord(agent) && { model: isRecord(agent['model']) ? agent['model']['id'] : null }),
    cost: sessionCost({ usage, budget }),
    usage: tokens,
  };
}
