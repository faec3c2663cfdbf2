import type { Protocol } from '../protocols/registry.ts';
import type { TaskTracker } from '../inference/types.ts';
import type { JobHandler, JobRun } from '../jobs/jobs.ts';
import { openInteractions } from './interactions/interaction-task.ts';
import { openResponses } from './responses/response-task.ts';
import type { OpenTask, TaskDeps, ToldTask } from './task-family.ts';
import { openVideos } from './videos/video-task.ts';

/** Every family of work that outlives its call; a new one is its file and a line here. */
export const openTasks = (deps: TaskDeps) => ({
  interactions: openInteractions(deps),
  responses: openResponses(deps),
  videos: openVideos(deps),
});

/** Families at work, by name. */
export type OpenTasks = Readonly<Record<string, OpenTask>>;

export function trackersOf(tasks: OpenTasks): ReadonlyMap<Protocol, TaskTracker> {
  return new Map(Object.values(tasks).map(({ protocol, tracker }) => [protocol, tracker]));
}

/** Handlers of the families' jobs, by kind of job. */
export function pollsOf(tasks: OpenTasks): ReadonlyMap<string, JobHandler> {
  return new Map(Object.values(tasks).map((task) => [task.job, (run: JobRun) => task.poll(run)]));
}

/** Undefined for an id of no family. Throws `not_found`. */
export async function tellTask(
  tasks: OpenTasks,
  organization: string,
  id: string,
): Promise<ToldTask | undefined> {
  for (const task of Object.values(tasks)) {
    const told = await task.tell(organization, id);
    if (told) return told;
  }
  return undefined;
}
