import { PAGING } from './operations.ts';
import type { OperationDoc } from './operations.ts';
import { object, orNull, pageOf, schemaRef, words } from './schemas.ts';
import type { JsonSchema } from './schemas.ts';

const text = { type: 'string' };
const flag = { type: 'boolean' };
const anyObject = { type: 'object' };
const typed = (type: string): JsonSchema => object({ type: { const: type } });
const audited: JsonSchema = object({ id: text, at: text, action: text, actor: anyObject });
/** A request as its operators see it: what its own organization sees, and how it was routed. */
const recorded: JsonSchema = object({
  id: text,
  created_at: text,
  organization: text,
  key: object({ id: text, name: text }),
  surface: text,
  model: text,
  status: orNull({ type: 'integer' }),
  result: text,
  attempts: { type: 'array' },
  cost: orNull(text),
});
const count = orNull({ type: 'integer' });
const priceList: JsonSchema = object({
  type: { const: 'price_list' },
  in_use: { enum: ['shipped', 'kept'] },
  shipped_version: text,
  sha256: orNull(text),
  from: orNull(text),
  kept_at: orNull(text),
  vendors: count,
  models: count,
});
const RECORDS = words('organization key model provider conversation status from to');
const ENTRIES = words('organization actor action kind object request from to');

/** Description of each operation below `/admin/v1` beyond its path; the kinds declare theirs themselves. */
export const ADMIN_OPERATIONS: Readonly<Record<string, OperationDoc>> = {
  'GET /admin/v1/usage': {
    summary: 'Read sums of use',
    answer: pageOf(schemaRef('UsageRow')),
    query: words('group_by month from to organization conversation limit'),
  },
  'GET /admin/v1/routing': {
    summary: 'Explain where a request would go now',
    answer: object({ protocol: text, asked: text, candidates: { type: 'array' } }),
    query: words('model protocol affinity'),
  },
  'GET /admin/v1/spending': {
    summary: 'Read the spending of a key or an organization',
    answer: typed('spending'),
    query: words('key organization'),
  },
  'GET /admin/v1/spending/budgets': {
    summary: 'Read what is spent of budgets',
    answer: pageOf(schemaRef('BudgetSpending')),
  },
  'GET /admin/v1/status': { summary: 'Read how the gateway is', answer: typed('status') },
  'GET /admin/v1/requests': {
    summary: 'List requests, newest first',
    answer: pageOf(recorded),
    query: [...PAGING, ...RECORDS],
  },
  'GET /admin/v1/requests/events': {
    summary: 'Follow requests as they begin and end',
    query: [...RECORDS, 'limit'],
    also: ['text/event-stream'],
  },
  'GET /admin/v1/requests/{id}': { summary: 'Read a request', answer: recorded },
  'GET /admin/v1/audit': {
    summary: 'List changes, newest first',
    answer: pageOf(audited),
    query: [...PAGING, ...ENTRIES],
  },
  'GET /admin/v1/audit/verify': {
    summary: 'Check that no entry was changed or removed',
    answer: anyObject,
  },
  'GET /admin/v1/audit/{id}': { summary: 'Read a change', answer: audited },
  'POST /admin/v1/console/links': {
    summary: 'Make a link that signs a browser in to the console once',
    status: 201,
    body: anyObject,
    bodyOptional: true,
    answer: object({ type: { const: 'console_link' }, link: text, path: text, expires_at: text }),
  },
  'GET /admin/v1/prices': {
    summary: 'Read which list of published prices is in use',
    answer: priceList,
  },
  'PUT /admin/v1/prices': {
    summary: 'Keep another list of published prices, for every process',
    body: object({ text, sha256: text, from: text }),
    answer: priceList,
  },
  'DELETE /admin/v1/prices': {
    summary: 'Go back to the list that is shipped',
    answer: priceList,
  },
  'POST /admin/v1/configuration/plan': {
    summary: 'Check files of configuration and plan what they would change',
    body: object(
      {
        files: { type: 'array', items: object({ name: text, text }), minItems: 1 },
        prune: flag,
        adopt: flag,
      },
      ['prune', 'adopt'],
    ),
    answer: typed('configuration_plan'),
  },
  'POST /admin/v1/configuration/secrets': {
    summary: 'Compare declared values of secrets with the stored ones',
    body: object({
      secrets: {
        type: 'array',
        items: object({ kind: text, id: orNull(text), field: text, value: text }),
        minItems: 1,
      },
    }),
    answer: object({
      type: { const: 'secret_comparison' },
      data: {
        type: 'array',
        items: object({ same: flag, stored: orNull(text), given: text, holder: orNull(text) }),
      },
    }),
  },
};
