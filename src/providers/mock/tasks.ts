import type { JsonObject } from './json.ts';
import { toMockError } from './mock-error.ts';
import {
  interactionId,
  toFinishedInteraction,
  toRunningInteraction,
} from './renderers/interactions.ts';
import { responseId, toFinishedResponse, toOpenResponse } from './renderers/responses.ts';
import { toVideo, videoId } from './renderers/videos.ts';
import type { Rendering } from './renderers/renderer.ts';

/** Work that outlives its request: videos, and stored or background Interactions and Responses. */
export interface Tasks {
  /** Keeps a task for later lookups; the oldest give way beyond 1,000. */
  add(rendering: Rendering): void;
  /** The task as it is now, one poll nearer to its end; undefined when unknown. */
  poll(id: string): JsonObject | undefined;
  /** True when a task is complete; undefined when unknown. */
  isDone(id: string): boolean | undefined;
  /** A task as it was asked for; undefined when unknown. */
  find(id: string): Rendering | undefined;
  /** Ends a Response that runs; undefined when unknown. */
  cancel(id: string): JsonObject | undefined;
  /** Forgets a task; false when unknown. */
  delete(id: string): boolean;
}

interface Task {
  rendering: Rendering;
  pollsLeft: number;
  isCancelled?: true;
}

const IDS: Readonly<Record<string, (id: string) => string>> = {
  videos: videoId,
  interactions: interactionId,
  responses: responseId,
};

const MAX_TASKS = 1000;

export function createTasks(): Tasks {
  const tasks = new Map<string, Task>();
  return {
    add(rendering) {
      const { request, id, scripted } = rendering;
      const { protocol, body, stream } = request;
      const runs = protocol === 'videos' || (body.background === true && !stream);
      const pollsLeft = runs ? (scripted.polls ?? 1) : 0;
      tasks.set(IDS[protocol]?.(id) ?? id, { rendering, pollsLeft });
      const [oldest] = tasks.keys();
      if (tasks.size > MAX_TASKS && oldest !== undefined) tasks.delete(oldest);
    },
    poll(id) {
      const task = tasks.get(id);
      if (!task) return undefined;
      const running = task.pollsLeft > 0;
      if (running) task.pollsLeft--;
      if (task.rendering.request.protocol === 'responses') return pollResponse(task, running);
      return task.rendering.request.protocol === 'videos'
        ? pollVideo(task.rendering, running)
        : pollInteraction(task.rendering, running);
    },
    isDone(id) {
      const task = tasks.get(id);
      return task && task.pollsLeft === 0 && task.rendering.scripted.error === undefined;
    },
    find: (id) => tasks.get(id)?.rendering,
    cancel(id) {
      const task = tasks.get(id);
      if (task && task.pollsLeft > 0) Object.assign(task, { pollsLeft: 0, isCancelled: true });
      return task && pollResponse(task, false);
    },
    delete: (id) => tasks.delete(id),
  };
}

function pollResponse({ rendering, isCancelled }: Task, running: boolean): JsonObject {
  const { error } = rendering.scripted;
  if (running) return toOpenResponse(rendering, 'in_progress');
  if (isCancelled) return toOpenResponse(rendering, 'cancelled');
  if (!error) return toFinishedResponse(rendering);
  const { message = 'mock error 500', code } = error;
  const failure = { code: String(code ?? 'server_error'), message };
  return { ...toOpenResponse(rendering, 'failed'), error: failure };
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
