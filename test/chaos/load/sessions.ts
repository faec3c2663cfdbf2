import { setTimeout as sleep } from 'node:timers/promises';
import { AGENT_KINDS, isOk } from '../journal.ts';
import type { AgentKind, SessionNote } from '../journal.ts';
import { ask, askAdmin } from '../stage.ts';
import type { Stage } from '../stage.ts';
import { repeat } from './repeat.ts';
import { startTail } from './tails.ts';

const WORKERS = 3;
const EVERY_MS = 150;
const LOOK_MS = 150;
const REST_MS = 8_000;
const MAX_MESSAGES = 3;

export type Agents = Readonly<Record<AgentKind, string>>;

/** The Agents of the Sessions; made before anything goes wrong. */
export async function makeAgents(stage: Stage): Promise<Agents> {
  const toolset = (mcp_server_name: string) => ({
    tools: [
      {
        type: 'mcp_toolset',
        mcp_server_name,
        default_config: { permission_policy: { type: 'always_allow' } },
      },
    ],
  });
  const model = 'chaos/tokens';
  const specs: Record<AgentKind, object> = {
    plain: { model },
    harness: { harness: 'lines' },
    'http-tool': {
      model,
      mcp_servers: [{ type: 'url', name: 'counter', url: stage.tools.url }],
      ...toolset('counter'),
    },
    'stdio-tool': {
      model,
      mcp_servers: [{ type: 'stdio', name: 'noting', server: 'tools' }],
      ...toolset('noting'),
    },
  };
  const made = await Promise.all(
    AGENT_KINDS.map(async (kind) => {
      const body = { name: kind, ...specs[kind] };
      const { id } = (await must(ask(stage, ['agent.create', 'POST /v1/agents'], { body }))) as {
        id: string;
      };
      return [kind, id] as const;
    }),
  );
  return Object.fromEntries(made) as Record<AgentKind, string>;
}

/** What must succeed since nothing is wrong yet. */
export async function must(asked: ReturnType<typeof ask>): Promise<unknown> {
  const reply = await asked;
  if (isOk(reply)) return reply.body;
  throw new Error(`${reply.what}: ${reply.status} ${reply.problem} ${JSON.stringify(reply.body)}`);
}

/** Sessions are begun and spoken to, one message after the other or on top of each other. */
export function startSessions(stage: Stage, until: AbortSignal, agents: Agents): Promise<void>[] {
  const tails: Promise<void>[] = [];
  const work = (): Promise<void> => converse(stage, { until, agents, tails });
  const workers = Array.from({ length: WORKERS }, () =>
    repeat(stage, { until, everyMs: EVERY_MS, work }),
  );
  const resources = repeat(stage, { until, everyMs: 700, work: () => makeResource(stage) });
  return [...workers, resources];
}

interface Conversing {
  readonly until: AbortSignal;
  readonly agents: Agents;
  readonly tails: Promise<void>[];
}

async function converse(stage: Stage, { until, agents }: Conversing): Promise<void> {
  const { random, journal } = stage;
  const kind = random.pick(AGENT_KINDS);
  const body = { agent: agents[kind] };
  const made = await ask(stage, ['session.create', 'POST /v1/sessions'], { body });
  if (!isOk(made)) return;
  const session: SessionNote = { id: made.body.id, kind, messages: [], tails: [] };
  journal.sessions.push(session);
  const isFollowed = random.next() < 0.4;
  for (let left = random.between(1, MAX_MESSAGES + 1); left > 0 && !until.aborted; left--) {
    await send(stage, session);
    const [first] = session.messages;
    if (isFollowed && session.tails.length === 0 && first?.id !== undefined)
      session.tails.push(startTail(stage, session.id, first.id));
    if (random.next() < 0.7) await untilIdle(stage, session.id);
  }
}

async function send(stage: Stage, { id, messages }: SessionNote): Promise<void> {
  const mark = stage.journal.newMark('s');
  const content = [{ type: 'text', text: `do it #${mark}#` }];
  const body = { events: [{ type: 'user.message', content }] };
  const sent = await ask(stage, ['event.send', `POST /v1/sessions/${id}/events`], { body });
  messages.push({ mark, id: isOk(sent) ? sent.body.data[0].id : undefined });
}

async function untilIdle(stage: Stage, id: string): Promise<void> {
  for (const end = Date.now() + REST_MS; Date.now() < end; await sleep(LOOK_MS)) {
    const seen = await ask(stage, ['session.get', `GET /v1/sessions/${id}`]);
    if (seen.body.status === 'idle') return;
  }
}

async function makeResource(stage: Stage): Promise<void> {
  const name = `a${stage.journal.agents.length}`;
  const body = { name, model: 'chaos/flat' };
  const made = await ask(stage, ['agent.create', 'POST /v1/agents'], { body });
  if (isOk(made)) stage.journal.agents.push({ id: made.body.id, name });
  await askAdmin(stage, ['requests.list', 'GET /admin/v1/requests?limit=5']);
}
