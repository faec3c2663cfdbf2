import type { ScopeName, Use } from '../../core/access.ts';
import type { z } from 'zod';
import { factsOf, type Collection } from '../../core/kinds.ts';
import { once } from '../../core/lazy.ts';
import type { Dialects, FormField } from './dialect.ts';
import type { CallerRights, ResourceReply, ResourceRequest } from './resource-request.ts';
import type { Draft, Lookup, Settlement } from './settlement.ts';
import type { Op, Store } from '../../store/store.ts';
import type { Body, ListQuery, Note, Scope, Spec, State, Stored } from './stored.ts';

/** A field that names another resource. */
export interface Reference {
  /** Kind of the named object. */
  kind: string;
  /** Its id or name. */
  target: string;
  /** Path of the field that names it, for error messages: `routes[0].provider`. */
  path: string;
}

/** Work at creation beyond storing the declared fields. */
export interface Creation {
  state: Record<string, unknown>;
  /** Further writes of the same commit. */
  ops: Op[];
  /** Members of only the create answer; shown once. */
  reveal: Record<string, unknown>;
}

/** Flag of the command line that gives a member in fewer words than its path. */
export interface ShortFlag {
  /** Member that it gives, `schedule.expression`; of a list that `read` makes items for, the list. */
  readonly path: string;
  /** Placeholder of the value in help, `CRON`. */
  readonly value: string;
  readonly description: string;
  /** True: may be given several times, each time for one item of the list. Default false. */
  readonly repeatable?: boolean;
  /** Makes the value of a text. Default: the text is read as the member wants it. */
  readonly read?: (text: string) => unknown;
  /** Members that come along where they are not given, by their paths. */
  readonly beside?: Readonly<Record<string, unknown>>;
}

/** Input of an action. */
export interface ActionInput {
  stored: Stored;
  /** RFC 3339. */
  now: string;
  body: Body;
}

export interface ActionOutcome {
  /** Members of state to change. */
  state?: State;
  /** Write-only fields to replace. */
  secrets?: Readonly<Record<string, string>>;
  /** Further writes of the same commit. */
  ops?: Op[];
  /** Members of only the answer; shown once. */
  reveal?: Record<string, unknown>;
}

/** Way in which an object that is no longer declared goes. */
export type Removal = 'delete' | 'revoke' | 'archive' | 'disable';

/** Rules by which plans change and end objects of a kind. */
export interface Lifecycle {
  /** Default: delete. */
  readonly removedBy?: Removal;
  /** True when a removal loses something for ever (a key's value, an instant, an address). Default false. */
  readonly isGoneForEver?: boolean;
  /** True when the server makes up a value that it shows once, where none is declared. Default false. */
  readonly isIssued?: boolean;
  /** Returns the fields that no update of this object can change. Default: those of `immutable`. */
  readonly isFixed?: (field: string, view: Readonly<Record<string, unknown>>) => boolean;
  /** Members of an update that name what a field is now, by the field that is changed. */
  readonly guards?: Readonly<Record<string, string>>;
  /** Fields that change only while the object is paused. */
  readonly boundWhilePaused?: readonly string[];
}

/** Circumstances of a write that is judged. */
export interface CheckContext {
  /** RFC 3339. */
  readonly now: string;
  /** Absent at creation, as is `reveal`. */
  readonly before?: Stored;
  /** The plain value of a stored secret; undefined where there is none that can be read. */
  readonly reveal?: (path: string) => string | undefined;
}

export interface CreationInput {
  id: string;
  spec: Spec;
  /** Write-only values as given. */
  secrets: Readonly<Record<string, string>>;
}

/** Uses of a kind, as roles tell them apart. */
export interface KindUses {
  /** Reading it; default `read`. */
  readonly read?: Use;
  /** Making, changing and removing it; default `write`. */
  readonly change?: Use;
  /** Name of the child that is read as content. */
  readonly content?: string;
}

export interface Target extends Scope {
  definition: ResourceDefinition;
  idOrName: string;
  expectedVersion?: number | undefined;
  /** Further operations of the commit that changes it, whose own ones are given; none without a change. */
  also?(next: Stored, ops: readonly Op[]): Promise<readonly Op[]>;
}

/** Resources of every kind, as those that follow or serve them reach them. */
export interface ResourceAccess {
  readonly store: Store;
  readonly definitions: readonly ResourceDefinition[];
  definitionOf(kind: string): ResourceDefinition;
  list(definition: ResourceDefinition, query: ListQuery): Promise<Stored[]>;
  /** Undefined for an object that does not exist. */
  byIds(
    definition: ResourceDefinition,
    ids: readonly string[],
  ): Promise<Map<string, Stored | undefined>>;
  update(target: Target, body: Body): Promise<Stored>;
  /** Keeps what the gateway itself learns: no new version, no news for those who watch. */
  note(target: Target, change: (stored: Stored) => Promise<Note | undefined>): Promise<Stored>;
}

/** A requested change, about to be committed. */
export interface AskedChange {
  readonly repository: ResourceAccess;
  readonly before: Stored;
  readonly next: Stored;
  /** Update as it was sent. */
  readonly body: Body;
  readonly rights: CallerRights;
}

/** A resource and what lies below its path. */
export interface ChildInput {
  repository: ResourceAccess;
  stored: Stored;
  request: ResourceRequest;
  /** Segments after the name of the child. */
  segments: readonly string[];
}

/** A kind as its organization's keys reach it (contract: Endpoints). Only by id, never by name. */
export interface OrganizationApi {
  /** Below `/v1`. */
  readonly path: string;
  /** Scope that a restricted key needs. */
  readonly scope: ScopeName;
  /** Members of the view that only administrators see. */
  readonly hidden: readonly string[];
  /** Member of an update that names the version which it was made for. */
  readonly guard?: string;
  /** The only members that an update may have; others answer 400. Default: unknown ones are ignored. */
  readonly updatable?: readonly string[];
  /** False: there is no update. */
  readonly changes?: false;
  /** True: successes are `{code, data, message}` and lists are whole (contract: Credential). */
  readonly coded?: boolean;
  /** True: bodies may be YAML. */
  readonly yaml?: boolean;
  /** Shapes for clients of several protocols. Default: only the gateway's own. */
  readonly dialects?: Dialects;
  /** `/{id}/{child}` and below. */
  readonly children?: Readonly<Record<string, (input: ChildInput) => Promise<ResourceReply>>>;
  /** The fields that a form means. */
  fromForm?: (fields: readonly FormField[]) => Body;
}

/**
 * A kind of resource, declared once (design: Resources). Handlers, lists, versions, the schema of
 * `gateway.yaml`, plan and apply, OpenAPI and commands are derived from it.
 */
export interface ResourceDefinition {
  /** `type` of its views. */
  readonly kind: string;
  /** Section of `gateway.yaml` and last segment of `path`. */
  readonly collection: Collection;
  readonly path: string;
  readonly idPrefix: string;
  readonly description: string;
  /** True when each belongs to one organization and names are unique within it. */
  readonly organizationScoped: boolean;
  /** Declared fields as create takes them, defaults included; `name` is the natural key. */
  readonly fields: z.ZodObject;
  /** Other spellings of a field that views use because `type` names the kind there. */
  readonly aliases: Readonly<Record<string, string>>;
  /**
   * Paths of write-only fields (`api_key`, `tls.key`): sealed at rest, shown as `api_key_configured`,
   * `tls_key_configured`.
   */
  readonly secrets: readonly string[];
  /** Field that a text gives where its section is a mapping of names. Default: it is only a list. */
  readonly shortForm?: string;
  /** Fields that an update refuses. */
  readonly immutable: readonly string[];
  /** False: ended by an action instead. */
  readonly deletable: boolean;
  readonly lifecycle?: Lifecycle;
  /** Parts of calls that roles know under other uses than `read` and `write`. */
  readonly uses?: KindUses;
  /** Fields by which lists can be filtered, in addition to `name` and `q`. */
  readonly filters: readonly string[];
  /** Part in the organization's own API; absent: only for administrators. */
  readonly api?: OrganizationApi;
  /** Fields whose values are unique in the organization, null aside. Default: the name. */
  readonly unique?: readonly string[];
  /** Fields that `q` looks into in addition to id and name. */
  readonly search?: readonly string[];
  /** True when `archive` ends it: readable, off default lists, refuses changes and new references. */
  readonly archivable?: boolean;
  /** True when lists begin with the newest; default: with the oldest. */
  readonly newestFirst?: boolean;
  /** True when `version` only counts the changes of its fields and every version stays readable. */
  readonly versioned?: boolean;
  /** Maps of which an update changes the members that it names; null removes one. */
  readonly patched?: readonly string[];
  /** Flags of the command line by name, in addition to those that follow from the fields. */
  readonly flags?: Readonly<Record<string, ShortFlag>>;
  refs(spec: Spec): Reference[];
  /** Extra members of the view, from state and sealed secrets. */
  view(stored: Stored): Record<string, unknown>;
  /** Members of the view that no field describes, or not as they are shown. */
  readonly shown?: z.ZodObject;
  /**
   * Judges the fields together; `secrets` are those that the body gave. Throws `invalid_request` or
   * `unprocessable`. Without a context nothing is written: a file is judged.
   */
  check?: (spec: Spec, secrets: Readonly<Record<string, unknown>>, context?: CheckContext) => void;
  /** Absent: nothing beyond the declared fields. */
  create?: (input: CreationInput) => Creation;
  /**
   * Changes of state that a body may request in addition to the declared fields (`enabled: false` on a key).
   * Gives the members to change, or undefined; throws `invalid_request` for a wrong type and `conflict` for a
   * change that cannot be.
   */
  transition?: (
    stored: Stored,
    body: Readonly<Record<string, unknown>>,
    now: string,
  ) => State | undefined;
  /** Other spellings of a body's members. */
  read?: (body: Body) => Body;
  /** Converts the body of an update to fields, where that depends on the present state. */
  patch?: (before: Stored, patch: Body) => Body;
  /** Completes a new state by its references, and returns the further writes. */
  settle?: (draft: Draft, lookup: Lookup) => Promise<Settlement>;
  /** Judges an update by the rights of its caller; rejects with the `GatewayError` to answer. */
  permit?: (change: AskedChange) => Promise<void>;
  /** State that follows from secrets, whenever they are set or replaced. */
  fromSecrets?: (secrets: Readonly<Record<string, string>>) => State;
  /** Writes in addition to its row when its state changes. `before` is absent at creation, `next` at removal. */
  index?: (before: Stored | undefined, next: Stored | undefined) => Op[];
  /** Form in which plan compares a field with the view `shown` where that is not the declared one. */
  readonly comparable?: Readonly<Record<string, (value: unknown, shown: unknown) => unknown>>;
  /** Writes that remove the further rows of a deleted resource. */
  dispose?: (stored: Stored, lookup: Lookup) => Promise<Op[]>;
  /** `POST {path}/{id}/{action}`; undefined changes nothing. */
  readonly actions?: Readonly<Record<string, (input: ActionInput) => ActionOutcome | undefined>>;
}

/** Members of a definition that follow from the facts of its kind. */
type Derived = 'kind' | 'collection' | 'path' | 'organizationScoped';
/** Members of a definition that are empty where a declaration leaves them out. */
type Optional = 'aliases' | 'secrets' | 'immutable' | 'filters' | 'refs' | 'view';

/** Schemas, which are made when they are first asked for: most commands need those of few kinds. */
interface Schemas {
  fields(): z.ZodObject;
  shown?(): z.ZodObject;
}

/** A kind as it is declared. */
export type ResourceDeclaration = Schemas &
  Omit<ResourceDefinition, Derived | Optional | keyof Schemas> &
  Partial<Pick<ResourceDefinition, Optional>>;

export function defineResource(
  collection: Collection,
  { fields, shown, ...declaration }: ResourceDeclaration,
): ResourceDefinition {
  const { type, isOwned } = factsOf(collection);
  const fieldsOnce = once(fields);
  const shownOnce = shown && once(shown);
  return {
    kind: type,
    collection,
    path: `/admin/v1/${collection}`,
    organizationScoped: isOwned,
    aliases: {},
    secrets: [],
    immutable: [],
    filters: [],
    refs: () => [],
    view: () => ({}),
    ...declaration,
    get fields() {
      return fieldsOnce();
    },
    get shown() {
      return shownOnce?.();
    },
  };
}

/** View of a resource in the API: secrets never, absent optional values as null. */
export function toView(definition: ResourceDefinition, stored: Stored): Record<string, unknown> {
  const declared: Record<string, unknown> = {};
  const shownAs = new Map(
    Object.entries(definition.aliases).map(([alias, field]) => [field, alias]),
  );
  for (const field of Object.keys(definition.fields.shape)) {
    if (definition.secrets.includes(field)) continue;
    declared[shownAs.get(field) ?? field] = stored.spec[field] ?? null;
  }
  const { labels, ...fields } = declared;
  return {
    id: stored.id,
    type: definition.kind,
    ...fields,
    ...definition.view(stored),
    ...(definition.archivable && { archived_at: stored.state['archived_at'] ?? null }),
    labels,
    version: stored.version,
    created_at: stored.createdAt,
    updated_at: stored.updatedAt,
  };
}
