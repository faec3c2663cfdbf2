import { KINDS, type KindWith } from '../../core/kinds.ts';
import {
  ADOPTED,
  DRIFT,
  DUMPED,
  EXPLANATION,
  FAULTY,
  FINDINGS,
  INVALID,
  PLAN,
  REPORT,
  TRANSFERRED,
  VALID,
} from './config-shapes.ts';
import { CONNECTION_SHAPES } from './connection-shapes.ts';
import { RUN_SHAPES } from './run-shapes.ts';
import { STORE_SHAPES } from './store-shapes.ts';
import { anything, flag, list, oneOf, orNull, record, text, texts } from './shape.ts';
import type { Shape } from './shape.ts';
import {
  AGENT,
  ALIAS,
  API,
  ASSET,
  ASSET_DETAILS,
  CREDENTIAL,
  DEPLOYMENT,
  EVENT,
  FILE,
  KEY,
  MODEL,
  MODEL_DETAILS,
  MODEL_ENTRY,
  MODEL_ORDER,
  ORGANIZATION,
  PROVIDER,
  REQUEST,
  RUN,
  SCHEDULE,
  SERVICE,
  SESSION,
  SKILL,
  SKILL_VERSION,
  SPENDING,
  USAGE,
} from './views.ts';

const REMOVED = record({ id: text });
const GONE = list(record({ kind: text, identity: text }));
const JSON_SCHEMA = record({}, { $schema: text });
/** Their results come in lines, so a document is what tells of a failure. */
const NONE: Shape = { type: 'null' };

const PLUGIN = record({
  name: text,
  version: text,
  source: text,
  integrity: text,
  commands: texts,
});

/** `group list` gives many of what the other words give one of. */
function group(name: string, view: Shape, verbs: readonly string[]): Record<string, Shape> {
  const shapeOf = (verb: string) =>
    verb === 'list' ? list(view) : verb === 'delete' ? REMOVED : view;
  return Object.fromEntries(verbs.map((verb) => [`${name} ${verb}`, shapeOf(verb)]));
}

/** Views of the kinds that the command line shows. */
const VIEWS: Readonly<Record<KindWith<'list'>, Shape>> = {
  organizations: ORGANIZATION,
  providers: PROVIDER,
  models: MODEL,
  aliases: ALIAS,
  apis: API,
  keys: KEY,
  files: FILE,
  skills: SKILL,
  agents: AGENT,
  credentials: CREDENTIAL,
  services: SERVICE,
  deployments: DEPLOYMENT,
};
/** `create` and `update` give the object, or the faults of what was given. */
function written(
  name: string,
  view: Shape,
  verbs: readonly string[] = ['create', 'update'],
): Record<string, Shape> {
  return Object.fromEntries(verbs.map((verb) => [`${name} ${verb}`, oneOf(view, FAULTY)]));
}

/** The `data` of each command's JSON document, by the words that call it. */
export const DATA_SHAPES: Readonly<Record<string, Shape>> = {
  ...plainShapes(),
  init: record({ directory: text, template: text, files: texts, vendors: texts }),
  start: orNull(record({ valid: flag })),
  mock: NONE,
  doctor: FINDINGS,
  validate: oneOf(VALID, INVALID),
  plan: oneOf(PLAN, INVALID),
  'plan show': PLAN,
  diff: oneOf(PLAN, INVALID),
  apply: oneOf(REPORT, PLAN, INVALID),
  delete: oneOf({ allOf: [oneOf(REPORT, PLAN), record({ gone: GONE })] }, INVALID),
  drift: oneOf(DRIFT, INVALID),
  dump: DUMPED,
  adopt: oneOf(ADOPTED, INVALID),
  transfer: TRANSFERRED,
  explain: EXPLANATION,
  schema: JSON_SCHEMA,
  'schema output': JSON_SCHEMA,
  chat: record({ id: text, choices: list(record({ message: record({ role: text }) })) }),
  'models get': MODEL_DETAILS,
  ...written('models', MODEL_ENTRY),
  'models explain': MODEL_ORDER,
  ...written('keys', KEY, ['update']),
  'keys get': { allOf: [KEY, SPENDING, record({ organization_name: text })] },
  ...group('keys', { allOf: [KEY, record({ value: text })] }, ['create', 'rotate']),
  ...written('providers', PROVIDER),
  ...written('aliases', ALIAS),
  ...written('apis', API),
  ...written('organizations', ORGANIZATION),
  ...written('agents', AGENT),
  ...written('services', SERVICE),
  ...written('deployments', SCHEDULE),
  ...written('credentials', CREDENTIAL, ['update']),
  'organizations get': { allOf: [ORGANIZATION, SPENDING] },
  usage: list(USAGE),
  account: record({
    currency: text,
    balance: text,
    credit: text,
    spending_limit: orNull(text),
    spent: text,
  }),
  executions: list(REQUEST),
  logs: oneOf(list(REQUEST), REQUEST),
  api: anything,
  ...CONNECTION_SHAPES,
  ...RUN_SHAPES,
  ...STORE_SHAPES,
  ...group('credentials', CREDENTIAL, ['create', 'rotate']),
  ...group('skills', SKILL, ['create']),
  'skills get': oneOf(SKILL, record({ id: text, version: text, folder: text, files: anything })),
  'skills update': SKILL_VERSION,
  'skills versions': list(SKILL_VERSION),
  ...group('files', FILE, ['upload']),
  'files download': record({ id: text, path: text }),
  'assets create': ASSET,
  'assets get': ASSET_DETAILS,
  invoke: record({ session_id: text, events: list(EVENT) }),
  acp: NONE,
  mcp: NONE,
  ...group('sessions', SESSION, ['list', 'get', 'archive', 'delete']),
  'sessions events': list(EVENT),
  'sessions tail': NONE,
  tail: NONE,
  'deployments test-notification': record({ id: text, delivered: flag }),
  'deployments next': record({ expression: text, timezone: text, upcoming_runs_at: texts }),
  trigger: oneOf(RUN, record({ candidates: orNull(list(RUN)) })),
  ...group('runs', RUN, ['list', 'get']),
  'runs watch': NONE,
  ...group('plugins', PLUGIN, ['install', 'list', 'remove']),
  'plugins manifest': record({ path: text, version: text, commands: texts }),
  version: record({ version: text, node: text, platform: text }),
  completion: record({ shell: text, script: text }),
  'complete-words': texts,
  help: oneOf(
    record({ name: text, summary: text }),
    list(oneOf(record({ name: text, summary: text }), record({}), text)),
  ),
};

/** Shapes of the plain commands of every kind; an entry behind them takes the place of one. */
function plainShapes(): Record<string, Shape> {
  const kinds = Object.entries(VIEWS) as [KindWith<'list'>, Shape][];
  return Object.assign({}, ...kinds.map(([kind, view]) => group(kind, view, KINDS[kind].verbs)));
}
