import type { View } from '../../src/config/actual/actual.ts';
import type { ResourceClient } from '../../src/config/actual/resource-client.ts';
import { type KindName, kindOf } from '../../src/config/objects/kinds.ts';
import type { Stored } from '../../src/resources/store/stored.ts';
import { toView } from '../../src/resources/store/define-resource.ts';

type Body = Record<string, unknown>;

/** What the fake does to the next matching write. */
export interface Fault {
  on: 'create' | 'update' | 'delete';
  name: string;
  /** `lost`: takes effect, the answer does not arrive; `refused`: 422; `down`: 503 without effect. */
  how: 'lost' | 'refused' | 'down';
}

/**
 * The resources as the API keeps and shows them: bodies go through the resource's own schema, so
 * money, durations and defaults come back normalised; secrets never come back.
 */
export class FakeServer implements ResourceClient {
  readonly writes: string[] = [];
  /** Bodies as sent, for a look at what leaves the house. */
  readonly bodies: Body[] = [];
  readonly secrets = new Map<string, string>();
  fault: Fault | undefined;
  /** Fields that this server does not know. */
  dropped: readonly string[] = [];
  #objects: { kind: KindName; stored: Stored }[] = [];
  #sequence = 0;

  async list(kind: KindName): Promise<View[]> {
    return this.#objects.filter((one) => one.kind === kind).map(({ stored }) => view(kind, stored));
  }

  async create(kind: KindName, sent: Body): Promise<View> {
    this.#record('create', kind, sent);
    const body = this.#withOwnerId(sent);
    const lost = this.#misbehave('create', nameOf(body));
    const names = this.#objects.filter(
      ({ kind: other, stored }) =>
        other === kind &&
        stored.spec.name === body['name'] &&
        stored.organization === (body['organization'] ?? null),
    );
    if (names.length > 0) throw refusal(409, 'exists');
    const stored: Stored = {
      id: `${kindOf(kind).definition.idPrefix}_${++this.#sequence}`,
      kind,
      organization: (body['organization'] as string | undefined) ?? null,
      spec: { name: '', labels: {} },
      sealed: {},
      state: { hint: 'sk-…', revoked_at: null },
      version: 1,
      createdAt: '',
      updatedAt: '',
    };
    this.#write(kind, stored, body);
    this.#objects.push({ kind, stored });
    if (lost) throw new Error('socket hang up');
    const made = view(kind, stored);
    return kind === 'key' && body['value'] === undefined ? { ...made, value: 'sk-made-up' } : made;
  }

  async update(
    kind: KindName,
    id: string,
    { body, expectedVersion }: { body: Body; expectedVersion: number },
  ): Promise<View> {
    this.#record('update', kind, body);
    const found = this.#objects.find(({ stored }) => stored.id === id);
    if (found === undefined) throw refusal(404, 'not found');
    this.#misbehave('update', found.stored.spec.name);
    if (found.stored.version !== expectedVersion) throw refusal(409, 'version');
    const before = JSON.stringify([found.stored.spec, found.stored.sealed, found.stored.state]);
    if (kind === 'key' && body['enabled'] === false) found.stored.state['revoked_at'] = 'now';
    this.#write(kind, found.stored, { ...found.stored.spec, ...body });
    const after = JSON.stringify([found.stored.spec, found.stored.sealed, found.stored.state]);
    if (before !== after) found.stored.version++;
    return view(kind, found.stored);
  }

  async delete(kind: KindName, id: string): Promise<void> {
    const found = this.#objects.find(({ stored }) => stored.id === id);
    if (found === undefined || !kindOf(kind).definition.deletable) throw refusal(405, 'no');
    this.#record('delete', kind, { name: found.stored.spec.name });
    this.#misbehave('delete', found.stored.spec.name);
    const users = this.#objects.filter(({ kind: other, stored }) =>
      kindOf(other)
        .definition.refs(stored.spec)
        .some((ref) => ref.kind === kind && ref.target === found.stored.spec.name),
    );
    if (users.length > 0) throw refusal(409, `used by ${users.map((one) => one.stored.id).join()}`);
    this.#objects = this.#objects.filter((one) => one !== found);
  }

  async archive(kind: KindName, id: string): Promise<View> {
    const found = this.#objects.find(({ stored }) => stored.id === id);
    if (found === undefined || !kindOf(kind).definition.archivable) throw refusal(405, 'no');
    this.#record('archive', kind, { name: found.stored.spec.name });
    this.#objects = this.#objects.filter((one) => one !== found);
    return view(kind, found.stored);
  }

  async act(kind: KindName, id: string, action: 'pause' | 'unpause'): Promise<View> {
    const found = this.#objects.find(({ stored }) => stored.id === id);
    if (found === undefined || kind !== 'deployment') throw refusal(404, 'not found');
    this.#record(action, kind, { name: found.stored.spec.name });
    const paused = action === 'pause' ? { type: 'manual' } : null;
    if (Boolean(found.stored.state['paused']) !== Boolean(paused)) found.stored.version++;
    found.stored.state['paused'] = paused;
    return view(kind, found.stored);
  }

  /** Owners are kept by id. */
  #withOwnerId(body: Body): Body {
    const owner = this.#objects.find(
      ({ kind, stored }) => kind === 'organization' && stored.spec.name === body['organization'],
    );
    return owner ? { ...body, organization: owner.stored.id } : body;
  }

  #write(kind: KindName, stored: Stored, body: Body): void {
    const { fields, secrets, refs } = kindOf(kind).definition;
    const known = Object.fromEntries(
      Object.entries(body).filter(([field]) => !this.dropped.includes(field)),
    );
    const parsed = fields.safeParse(known);
    if (!parsed.success) throw refusal(400, parsed.error.message);
    const spec = parsed.data as Stored['spec'];
    for (const { kind: target, target: name } of refs(spec)) {
      const exists = this.#objects.some(
        ({ kind: other, stored: { id, spec: known } }) =>
          kindOf(other).definition.kind === target && (known.name === name || id === name),
      );
      if (!exists) throw refusal(404, `no ${target} ${name}`);
    }
    for (const field of secrets) {
      const value = spec[field];
      delete spec[field];
      if (typeof value === 'string') {
        stored.sealed[field] = `sealed ${value.length}`;
        this.secrets.set(`${kind} ${spec.name} ${field}`, value);
      } else if (value === null) delete stored.sealed[field];
    }
    stored.spec = spec;
  }

  #record(verb: string, kind: KindName, body: Body): void {
    this.writes.push(`${verb} ${kind} ${nameOf(body)}`);
    this.bodies.push(structuredClone(body));
  }

  #misbehave(on: Fault['on'], name: string): boolean {
    if (this.fault?.on !== on || this.fault.name !== name) return false;
    const { how } = this.fault;
    if (how === 'refused') throw refusal(422, 'refused');
    if (how === 'down') throw refusal(503, 'down');
    this.fault = undefined;
    return true;
  }
}

/** A patch has no name: then the fields that it sends. */
function nameOf({ name, ...rest }: Body): string {
  return typeof name === 'string' ? name : Object.keys(rest).join();
}

function refusal(status: number, message: string): Error {
  return Object.assign(new Error(message), { status });
}

function view(kind: KindName, stored: Stored): View {
  return structuredClone(toView(kindOf(kind).definition, stored)) as View;
}
