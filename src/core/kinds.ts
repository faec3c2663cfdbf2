/** Plain commands on one object or on all of a kind; every kind has its choice of them. */
export type PlainVerb =
  | 'list'
  | 'get'
  | 'create'
  | 'update'
  | 'enable'
  | 'disable'
  | 'pause'
  | 'unpause'
  | 'archive'
  | 'revoke'
  | 'delete';

/** Facts of a kind that need none of its fields, for modules that must load without them. */
export interface KindFacts {
  /** Word for one of them in declarations and references: `service` in `service/helper`. */
  readonly name: string;
  /** `type` of its views. */
  readonly type: string;
  /** Word for one of them in help and messages. */
  readonly word: string;
  /** True when each belongs to one organization, so that several may have one name. */
  readonly isOwned: boolean;
  /** True when a configuration declares them. */
  readonly isDeclared: boolean;
  /** Field that turns one of them on and off; absent: they cannot be turned off. */
  readonly switch?: 'enabled' | 'status';
  /** Commands that the kind has; without `list` the command line does not show the kind. */
  readonly verbs: readonly PlainVerb[];
  /** Columns of its lists: titles, and the members of the view in them. Default: name, state and id. */
  readonly columns?: Readonly<Record<string, string>>;
  /** Columns that `-o wide` adds. */
  readonly wide?: Readonly<Record<string, string>>;
  /** True when arguments and flags of this name take one of them. Default false. */
  readonly isArgument?: boolean;
}

/**
 * Every kind of resource by its collection: its section of `gateway.yaml` and the last segment of its
 * admin path. In reference order: what an object refers to is of an earlier kind, or of the same.
 */
export const KINDS = {
  organizations: {
    name: 'organization',
    type: 'organization',
    word: 'organization',
    isOwned: false,
    isDeclared: true,
    switch: 'enabled',
    verbs: ['list', 'get', 'create', 'update'],
    columns: {
      NAME: 'name',
      'DISPLAY NAME': 'display_name',
      ENABLED: 'enabled',
      'SPENDING LIMIT': 'spending_limit',
      ID: 'id',
    },
    isArgument: true,
  },
  providers: {
    name: 'provider',
    type: 'provider',
    word: 'provider',
    isOwned: false,
    isDeclared: true,
    switch: 'enabled',
    verbs: ['list', 'get', 'create', 'update'],
    columns: {
      NAME: 'name',
      TYPE: 'provider_type',
      HEALTH: 'health',
      ENABLED: 'enabled',
      KEY: 'api_key_configured',
      'BASE URL': 'base_url',
      ID: 'id',
    },
  },
  models: {
    name: 'model',
    type: 'model',
    word: 'model',
    isOwned: false,
    isDeclared: true,
    switch: 'enabled',
    verbs: ['list', 'get', 'create', 'update'],
    isArgument: true,
  },
  aliases: {
    name: 'alias',
    type: 'alias',
    word: 'alias',
    isOwned: false,
    isDeclared: true,
    switch: 'enabled',
    verbs: ['list', 'get', 'create', 'update'],
    columns: { NAME: 'name', MODEL: 'model', ENABLED: 'enabled', ID: 'id' },
  },
  apis: {
    name: 'api',
    type: 'api',
    word: 'API',
    isOwned: false,
    isDeclared: true,
    switch: 'enabled',
    verbs: ['list', 'get', 'create', 'update'],
    columns: {
      NAME: 'name',
      ENABLED: 'enabled',
      KEY: 'api_key_configured',
      METHODS: 'methods',
      'BASE URL': 'base_url',
      ID: 'id',
    },
  },
  keys: {
    name: 'key',
    type: 'api_key',
    word: 'key',
    isOwned: true,
    isDeclared: true,
    switch: 'enabled',
    verbs: ['list', 'get', 'create', 'update', 'revoke'],
    columns: {
      NAME: 'name',
      ORGANIZATION: 'organization',
      ROLE: 'role',
      STATE: 'state',
      'LAST USE': 'last_used_on',
      EXPIRES: 'expires_at',
      'SPENDING LIMIT': 'spending_limit',
      ID: 'id',
    },
    wide: { SCOPES: 'scopes', MODELS: 'allowed_models', RPM: 'rpm_cap', KEY: 'hint' },
    isArgument: true,
  },
  budgets: {
    name: 'budget',
    type: 'budget',
    word: 'budget',
    isOwned: true,
    isDeclared: true,
    switch: 'enabled',
    verbs: ['list', 'get', 'create', 'update', 'enable', 'disable', 'delete'],
    columns: {
      NAME: 'name',
      ORGANIZATION: 'organization',
      AMOUNT: 'amount',
      PER: 'per',
      'ON EXCEED': 'on_exceed',
      ENABLED: 'enabled',
      ID: 'id',
    },
  },
  files: {
    name: 'file',
    type: 'file',
    word: 'file',
    isOwned: true,
    isDeclared: false,
    verbs: ['list', 'get', 'delete'],
    columns: {
      NAME: 'name',
      TYPE: 'mime_type',
      BYTES: 'size_bytes',
      CREATED: 'created_at',
      ID: 'id',
    },
  },
  skills: {
    name: 'skill',
    type: 'skill',
    word: 'Skill',
    isOwned: true,
    isDeclared: true,
    verbs: ['list', 'get', 'create', 'update', 'delete'],
    columns: {
      NAME: 'name',
      LATEST: 'latest_version_id',
      UPDATED: 'updated_at',
      ID: 'id',
    },
  },
  agents: {
    name: 'agent',
    type: 'agent',
    word: 'Agent',
    isOwned: true,
    isDeclared: true,
    verbs: ['list', 'get', 'create', 'update', 'archive'],
    columns: {
      NAME: 'name',
      MODEL: 'model',
      HARNESS: 'harness',
      VERSION: 'version',
      ARCHIVED: 'archived_at',
      ID: 'id',
    },
    isArgument: true,
  },
  credentials: {
    name: 'credential',
    type: 'credential',
    word: 'credential',
    isOwned: true,
    isDeclared: true,
    switch: 'status',
    verbs: ['list', 'get', 'create', 'update', 'disable', 'enable'],
    columns: {
      NAME: 'name',
      VALUE: 'value_hint',
      AGENT: 'agent_id',
      STATUS: 'status',
      FAILURES: 'failure_count',
      ID: 'id',
    },
  },
  services: {
    name: 'service',
    type: 'endpoint',
    word: 'Service',
    isOwned: true,
    isDeclared: true,
    switch: 'status',
    verbs: ['list', 'get', 'create', 'update', 'disable', 'enable', 'delete'],
    columns: {
      NAME: 'name',
      SLUG: 'slug',
      STATUS: 'status',
      PROTOCOLS: 'protocols',
      AGENT: 'agent_id',
      ID: 'id',
    },
    isArgument: true,
  },
  deployments: {
    name: 'deployment',
    type: 'deployment',
    word: 'Schedule',
    isOwned: true,
    isDeclared: true,
    verbs: ['list', 'get', 'create', 'update', 'pause', 'unpause', 'archive', 'delete'],
    isArgument: true,
  },
  inventories: {
    name: 'inventory',
    type: 'inventory',
    word: 'inventory',
    isOwned: false,
    isDeclared: false,
    verbs: [],
  },
} as const satisfies Record<string, KindFacts>;

/** A kind by its collection. */
export type Collection = keyof typeof KINDS;

/** A kind that a configuration declares, by its collection. */
export type DeclaredCollection = {
  [C in Collection]: (typeof KINDS)[C]['isDeclared'] extends true ? C : never;
}[Collection];

/** The same by the word for one of them. */
export type KindName = (typeof KINDS)[DeclaredCollection]['name'];

const COLLECTIONS = Object.keys(KINDS) as Collection[];

/** Facts of a kind in their common form. */
export function factsOf(collection: Collection): KindFacts {
  return KINDS[collection];
}

/** Collections whose facts pass a test, in reference order. */
export function kindsWhere(test: (facts: KindFacts) => boolean): readonly Collection[] {
  return COLLECTIONS.filter((collection) => test(KINDS[collection]));
}

/** Collections that a configuration declares, in reference order. */
export const DECLARED = kindsWhere(({ isDeclared }) => isDeclared) as readonly DeclaredCollection[];

/** True for a kind that the command line shows. */
export function isListed({ verbs }: KindFacts): boolean {
  return verbs.includes('list');
}

const BY_NAME = new Map(COLLECTIONS.map((collection) => [KINDS[collection].name, collection]));

/** Collection of a kind by the word for one of them. */
export function collectionOf(name: (typeof KINDS)[Collection]['name']): Collection {
  const found = BY_NAME.get(name);
  if (found === undefined) throw new Error(`no kind ${name}`);
  return found;
}
