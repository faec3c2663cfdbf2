import { deployment } from '../../resources/kinds/deployment.ts';
import { viewSchema } from '../../resources/store/view-schema.ts';
import {
  ADOPTED,
  DRIFT,
  DUMPED,
  EXPLANATION,
  FINDINGS,
  INVALID,
  PLAN,
  REPORT,
  TRANSFERRED,
  VALID,
} from './config-shapes.ts';
import { CONNECTION_SHAPES } from './connection-shapes.ts';
import { group, kindShapes, viewOf } from './kind-shapes.ts';
import { PROCESS_SHAPES } from './process-shapes.ts';
import { RUN_SHAPES } from './run-shapes.ts';
import { STORE_SHAPES } from './store-shapes.ts';
import { anything, flag, list, oneOf, orNull, record, text, texts } from './shape.ts';
import type { Shape } from './shape.ts';
import {
  AUDIT_ENTRY,
  AUDIT_VERDICT,
  ASSET,
  ASSET_DETAILS,
  BUDGET,
  EVENT,
  MODEL,
  MODEL_DETAILS,
  MODEL_ORDER,
  PRICE_LIST,
  REQUEST,
  RUN,
  SESSION,
  SKILL_VERSION,
  SPENDING,
  USAGE,
} from './views.ts';

const GONE = list(record({ kind: text, identity: text }));
const JSON_SCHEMA = record({}, { $schema: text });
/** Their results come in lines, so a document only reports a failure. */
const NONE: Shape = { type: 'null' };

const PLUGIN = record({
  name: text,
  version: text,
  source: text,
  integrity: text,
  commands: texts,
});

/** A Schedule as the API of its organization shows it. */
const SCHEDULE = viewSchema(deployment, deployment.api);
const KEY = viewOf('keys');
/** What `keys list` adds where the key in use may see it. */
const KEY_USE = { organization_name: text, last_used_on: orNull(text) };
const PROVIDER_WITH_HEALTH = {
  allOf: [
    viewOf('providers'),
    record({
      health: orNull(record({ state: text, until: orNull(text), routes: list(record({})) })),
    }),
  ],
};
const KEY_WITH_VALUE = { allOf: [KEY, record({ value: text })] };
const CREDENTIAL = viewOf('credentials');
const SKILL = viewOf('skills');
/** Events as a Session has taken them. */
const SENT = record({ session_id: text, events: list(EVENT) });

/** The `data` of each command's JSON document, by the words that call it. */
export const DATA_SHAPES: Readonly<Record<string, Shape>> = {
  ...kindShapes(),
  ...group('deployments', SCHEDULE, ['list', 'get', 'pause', 'unpause', 'archive']),
  'models list': list(MODEL),
  init: record({ directory: text, template: text, files: texts, vendors: texts }),
  start: orNull(record({ valid: flag })),
  dev: NONE,
  'dev-tunnel': NONE,
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
  'models explain': MODEL_ORDER,
  'providers list': list(PROVIDER_WITH_HEALTH),
  'providers get': PROVIDER_WITH_HEALTH,
  'keys list': list({ allOf: [KEY, record({ state: text }, KEY_USE)] }),
  'keys get': { allOf: [KEY, SPENDING, record({ organization_name: text })] },
  'keys create': KEY_WITH_VALUE,
  'keys rotate': { allOf: [KEY, record({}, { value: text })] },
  'organizations get': { allOf: [viewOf('organizations'), SPENDING] },
  'budgets list': list(BUDGET),
  'prices show': PRICE_LIST,
  'prices update': PRICE_LIST,
  'prices reset': PRICE_LIST,
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
  audit: oneOf(list(AUDIT_ENTRY), AUDIT_ENTRY),
  'audit verify': AUDIT_VERDICT,
  api: anything,
  ...CONNECTION_SHAPES,
  ...PROCESS_SHAPES,
  ...RUN_SHAPES,
  ...STORE_SHAPES,
  'credentials create': CREDENTIAL,
  'credentials rotate': CREDENTIAL,
  'skills create': SKILL,
  'skills get': oneOf(SKILL, record({ id: text, version: text, folder: text, files: anything })),
  'skills update': SKILL_VERSION,
  'skills versions': list(SKILL_VERSION),
  'files upload': viewOf('files'),
  'files download': record({ id: text, path: text }),
  'assets create': ASSET,
  'assets get': ASSET_DETAILS,
  invoke: SENT,
  'agents chat': NONE,
  'services chat': NONE,
  acp: NONE,
  mcp: NONE,
  ...group('sessions', SESSION, ['list', 'get', 'archive', 'delete']),
  ...group('sessions', SENT, ['allow', 'deny', 'answer', 'send', 'interrupt']),
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
