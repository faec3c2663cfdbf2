import type { JsonObject } from './json.ts';
import { toMockError } from './mock-error.ts';
import {
  interactionId,
  toFinishedInteraction,
  toRunningInteraction,
} from './renderers/interactions.ts';
import { toVideo, videoId } from './renderers/videos.ts';
import type { Rendering } from './renderers/renderer.ts';

/** Work that outlives its request: videos, and stored or background interactions. */
export interface Tasks {
  /** Keeps a task for later lookups; the oldest give way beyond 1,000. */
  add(rendering: Rendering): void;
  /** The task as it is now, one poll nearer to its end; undefined when unknown. */
  poll(id: string): JsonObject | undefined;
  /** True when a task is complete; undefined when unknown. */
  isDone(id: string): boolean | undefined;
  /** Forgets a task; false when unknown. */
  delete(id: string): boolean;
}

interface Task {
  rendering: Rendering;
  pollsLeft: number;
}

const MAX_TASKS = 1000;

export function createTasks(): Tasks {
  const tasks = new Map<string, Task>();
  return {
    add(rendering) {
      const { request, id, scripted } = rendering;
      const isVideo = request.protocol === 'videos';
      const runs = isVideo || request.body.background === true;
      const pollsLeft = runs ? (scripted.polls ?? 1) : 0;
      tasks.set(isVideo ? videoId(id) : interactionId(id), { rendering, pollsLeft });
      const [oldest] = tasks.keys();
      if (tasks.size > MAX_TASKS && oldest !== undefined) tasks.delete(oldest);
    },
    poll(id) {
      const task = tasks.get(id);
      if (!task) return undefined;
      const running = task.pollsLeft > 0;
      if (running) task.pollsLeft--;
      return task.rendering.request.protocol === 'videos'
        ? pollVideo(task.rendering, running)
        : pollInteraction(task.rendering, running);
    },
    isDone(id) {
      const task = tasks.get(id);
      return task && task.pollsLeft === 0 && task.rendering.scripted.error === undefined;
    },
    delete: (id) => tasks.delete(id),
  };
}

function pollVideo(rendering: Rendering, running: boolean): JsonObject {
  const { error } = rendering.scripted;
  if (running) return toVideo(rendering, 'in_progress');
  return toVideo(rendering, error ? { failed: toMockError(500, error) } : 'completed');
}

function pollInteraction(rendering: Rendering, running: boolean): JsonObject {
  const body = toRunningInteraction(rendering);
  if (running) return body;
  const { error } = rendering.scripted;
  if (!error) return toFinishedInteraction(rendering);
  const { message = 'mock error 500', code } = error;
  return { ...body, status: 'failed', errors: [{ code: String(code ?? 'INTERNAL'), message }] };
}
