import { isArchived } from '../store/stored.ts';
import type { Stored } from '../store/stored.ts';
import type { ResourceDefinition } from '../store/define-resource.ts';
import type { ResourceAccess } from '../store/define-resource.ts';
import { readChanged } from './changed-resources.ts';
import { readChanges } from './change-log.ts';
import type { LogPosition } from './change-log.ts';

/** Resources of the platform by their references; follows the changes, so that a look-up reads only those. */
export class Referrers {
  readonly #repository: ResourceAccess;
  readonly #rows = new Map<string, Stored>();
  /** Keys of rows by the kind and name, or id, that they refer to. */
  readonly #users = new Map<string, Set<string>>();
  #position: LogPosition | undefined;
  #reading: Promise<void> = Promise.resolve();

  constructor(repository: ResourceAccess) {
    this.#repository = repository;
  }

  /** Resources that refer to one of a kind by any of these names, as of now or later. */
  async of(kind: string, names: readonly string[]): Promise<Stored[]> {
    await (this.#reading = this.#reading.catch(() => undefined).then(() => this.#catchUp()));
    const keys = new Set(names.flatMap((name) => [...(this.#users.get(`${kind} ${name}`) ?? [])]));
    return [...keys].toSorted().flatMap((key) => this.#rows.get(key) ?? []);
  }

  async #catchUp(): Promise<void> {
    const { position, changes } = await readChanges(this.#repository.store, this.#position);
    const kinds = this.#repository.definitions.filter((one) => !one.organizationScoped);
    const read = await Promise.all(
      kinds.map(async (definition) => ({
        definition,
        rows: await readChanged(this.#repository, definition.kind, changes),
      })),
    );
    if (changes === 'everything') {
      this.#rows.clear();
      this.#users.clear();
    }
    for (const { definition, rows } of read) {
      for (const [id, stored] of rows) this.#put(definition, id, stored);
    }
    this.#position = position;
  }

  #put(definition: ResourceDefinition, id: string, stored: Stored | undefined): void {
    const key = `${definition.kind} ${id}`;
    const before = this.#rows.get(key);
    for (const target of before ? targetsOf(definition, before) : []) {
      const users = this.#users.get(target);
      users?.delete(key);
      if (users?.size === 0) this.#users.delete(target);
    }
    this.#rows.delete(key);
    if (!stored || isArchived(stored)) return;
    const targets = targetsOf(definition, stored);
    // Most refer to nothing, and need not be kept.
    if (targets.length > 0) this.#rows.set(key, stored);
    for (const target of targets) {
      const users = this.#users.get(target);
      if (users) users.add(key);
      else this.#users.set(target, new Set([key]));
    }
  }
}

function targetsOf({ refs }: ResourceDefinition, { spec }: Stored): string[] {
  return refs(spec).map(({ kind, target }) => `${kind} ${target}`);
}
