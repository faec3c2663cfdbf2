import { GATEWAY_ORIGIN } from '../../audit/audit-entry.ts';
import type { Origin } from '../../audit/audit-entry.ts';
import type { View } from '../../config/actual/actual.ts';
import type { ResourceClient } from '../../config/actual/resource-client.ts';
import type { KindName } from '../../config/objects/kinds.ts';
import { kindOf } from '../../config/objects/kinds.ts';
import { isArchived } from '../../resources/store/stored.ts';
import type { Stored } from '../../resources/store/stored.ts';
import { toView } from '../../resources/store/define-resource.ts';
import type { ResourceDefinition } from '../../resources/store/define-resource.ts';
import type { Repository } from '../../resources/store/repository.ts';

const EVERYTHING = {
  organization: null,
  limit: Infinity,
  matches: (stored: Stored) => !isArchived(stored),
};

/**
 * Client of apply straight on the repository: `start` and reload converge with it. Its changes are
 * audited as those of `by`.
 */
export function createResourceClient(
  repository: Repository,
  by: Origin = GATEWAY_ORIGIN,
): ResourceClient {
  const everywhere = { organization: null, by };
  const definitionOf = (kind: KindName): ResourceDefinition =>
    repository.definitionOf(kindOf(kind).definition.kind);
  const view = (definition: ResourceDefinition, stored: Stored): View =>
    toView(definition, stored) as unknown as View;
  return {
    isOwn: true,
    async list(kind) {
      const definition = definitionOf(kind);
      const found = await repository.list(definition, EVERYTHING);
      return found.map((stored) => view(definition, stored));
    },
    async create(kind, body) {
      const definition = definitionOf(kind);
      const { stored, reveal } = await repository.create(definition, body, everywhere);
      return { ...view(definition, stored), ...reveal };
    },
    async update(kind, id, { body, expectedVersion }) {
      const definition = definitionOf(kind);
      const target = { ...everywhere, definition, idOrName: id, expectedVersion };
      return view(definition, await repository.update(target, body));
    },
    async delete(kind, id) {
      const definition = definitionOf(kind);
      await repository.remove({ ...everywhere, definition, idOrName: id });
    },
    async archive(kind, id) {
      const definition = definitionOf(kind);
      const target = { ...everywhere, definition, idOrName: id };
      return view(definition, (await repository.act(target, 'archive')).stored);
    },
    async act(kind, id, action) {
      const definition = definitionOf(kind);
      const target = { ...everywhere, definition, idOrName: id };
      return view(definition, (await repository.act(target, action)).stored);
    },
  };
}
