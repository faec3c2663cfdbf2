import { CHAT_WEBHOOK } from '../../resources/kinds/deployment.ts';
import type { Repository } from '../../resources/store/repository.ts';
import type { NotifierDeps } from './notifier.ts';

/** Reads Schedules with their webhooks, which are plain only here. */
export function createScheduleFinder(repository: Repository): NotifierDeps['findSchedule'] {
  const definition = repository.definitionOf('deployment');
  return async (organization, id) => {
    const stored = await repository.find(definition, id, { organization });
    if (!stored || stored.id !== id) return undefined;
    return { name: stored.spec.name, webhook: repository.reveal(stored, CHAT_WEBHOOK) };
  };
}
