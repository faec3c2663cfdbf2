import { isRecord } from '../../client/http/guards.ts';
import type { KindWith } from '../../core/kinds.ts';
import { spendingText } from '../input/spending-limit.ts';

/** Kinds whose lists are the admin API's; those of models and Schedules have commands of their own. */
export type ListedKind = Exclude<KindWith<'list'>, 'models' | 'deployments'>;

/** Title, member of the view, and its form for people where that is another. */
export type MemberColumn = readonly [
  title: string,
  member: string,
  toShown?: (value: unknown) => unknown,
];

/** Columns of the tables that `list` shows. */
export const COLUMNS: Readonly<Record<ListedKind, readonly MemberColumn[]>> = {
  organizations: [
    ['NAME', 'name'],
    ['DISPLAY NAME', 'display_name'],
    ['ENABLED', 'enabled'],
    ['SPENDING LIMIT', 'spending_limit', spendingText],
    ['ID', 'id'],
  ],
  providers: [
    ['NAME', 'name'],
    ['TYPE', 'provider_type'],
    ['ENABLED', 'enabled'],
    ['KEY', 'api_key_configured'],
    ['BASE URL', 'base_url'],
    ['ID', 'id'],
  ],
  aliases: [
    ['NAME', 'name'],
    ['MODEL', 'model'],
    ['ENABLED', 'enabled'],
    ['ID', 'id'],
  ],
  apis: [
    ['NAME', 'name'],
    ['ENABLED', 'enabled'],
    ['KEY', 'api_key_configured'],
    ['METHODS', 'methods'],
    ['BASE URL', 'base_url'],
    ['ID', 'id'],
  ],
  keys: [
    ['NAME', 'name'],
    ['KEY', 'hint'],
    ['ORGANIZATION', 'organization'],
    ['ENABLED', 'enabled'],
    ['EXPIRES', 'expires_at'],
    ['RPM', 'rpm_cap'],
    ['SPENDING LIMIT', 'spending_limit', spendingText],
    ['ID', 'id'],
  ],
  files: [
    ['NAME', 'name'],
    ['TYPE', 'mime_type'],
    ['BYTES', 'size_bytes'],
    ['CREATED', 'created_at'],
    ['ID', 'id'],
  ],
  skills: [
    ['NAME', 'name'],
    ['LATEST', 'latest_version_id'],
    ['UPDATED', 'updated_at'],
    ['ID', 'id'],
  ],
  agents: [
    ['NAME', 'name'],
    ['MODEL', 'model', (model) => (isRecord(model) ? model['id'] : model)],
    ['HARNESS', 'harness', (harness) => (isRecord(harness) ? harness['name'] : harness)],
    ['VERSION', 'version'],
    ['ARCHIVED', 'archived_at'],
    ['ID', 'id'],
  ],
  credentials: [
    ['NAME', 'name'],
    ['VALUE', 'value_hint'],
    ['AGENT', 'agent_id'],
    ['STATUS', 'status'],
    ['FAILURES', 'failure_count'],
    ['ID', 'id'],
  ],
  services: [
    ['NAME', 'name'],
    ['SLUG', 'slug'],
    ['STATUS', 'status'],
    ['PROTOCOLS', 'protocols', (names) => (Array.isArray(names) ? names.join(', ') : names)],
    ['AGENT', 'agent_id'],
    ['ID', 'id'],
  ],
};
