import { arrow, box, type Box, svg } from './svg.ts';

const CLIENTS: readonly (readonly string[])[] = [
  ['Clients', 'OpenAI, Anthropic, Google, curl'],
  ['Editors and agents', 'MCP, ACP, REST'],
  ['Schedules', 'cron in a time zone'],
];
const STEPS: readonly (readonly string[])[] = [
  ['Keys and limits', 'scope, rate, spending'],
  ['Routes', 'priority, weight, failover'],
  ['Ledger', 'tokens, money, records'],
];
const PROVIDERS: readonly (readonly string[])[] = [
  ['First route', 'fails: nothing was sent yet'],
  ['Next route', 'answers: bytes pass on'],
  ['Vendors’ APIs', 'search, maps, rates'],
];
const HEIGHT = 46;
const TOP = 60;
const STEP = 66;

/** The picture in README: who calls, what the gateway does, whom it asks. */
export function overview(): string {
  const clients = column(CLIENTS, 20, 200);
  const steps = column(STEPS, 320, 190);
  const providers = column(PROVIDERS, 620, 190);
  const agents: Box = {
    x: 320,
    y: TOP + 3 * STEP,
    width: 190,
    height: HEIGHT,
    lines: ['Agents', 'Sessions, tools, Skills'],
  };
  const frame = `<rect class="main" x="290" y="20" width="250" height="310" rx="10"/>`;
  const name = `<text class="text" x="415" y="44" text-anchor="middle" font-weight="700">gateway</text>`;
  const files: Box = {
    x: 20,
    y: agents.y,
    width: 200,
    height: HEIGHT,
    lines: ['gateway.yaml', 'plan, apply, reload'],
  };
  const store: Box = {
    x: 620,
    y: agents.y,
    width: 190,
    height: HEIGHT,
    lines: ['Store', 'LMDB, Redis, PostgreSQL'],
  };
  return svg({ width: 830, height: 350, title: 'Clients, the gateway and providers' }, [
    frame,
    name,
    ...[...clients, ...steps, ...providers, agents, files, store].map(box),
    ...[...clients, files].map((from) =>
      arrow(right(from), { x: 290, y: from.y + HEIGHT / 2 }, 'x'),
    ),
    ...[...providers, store].map((to) => arrow({ x: 540, y: to.y + HEIGHT / 2 }, left(to), 'x')),
  ]);
}

function column(items: readonly (readonly string[])[], x: number, width: number): Box[] {
  return items.map((lines, at) => ({ x, y: TOP + at * STEP, width, height: HEIGHT, lines }));
}

const right = ({ x, y, width }: Box) => ({ x: x + width, y: y + HEIGHT / 2 });
const left = ({ x, y }: Box) => ({ x, y: y + HEIGHT / 2 });
