import { Buffer } from 'node:buffer';
import { GatewayError } from '../core/errors.ts';
import type { Call } from '../inference/types.ts';
import type { ProviderWork } from '../protocols/protocol.ts';
import type { TaskFamily, TrackedTasks } from './task-family.ts';
import type { TaskRecord } from './task-rows.ts';

export interface Creation<R extends TaskRecord> {
  /** Record of the task that a call left at its provider. */
  toRecord(call: Call, work: ProviderWork): R;
  /** JSON answer to the call. */
  toBody(record: R, call: Call): object;
}

/**
 * Tracker of a family whose every call creates one task and costs nothing itself: the task is stored
 * before the client learns of it, and its money stays reserved until it ends.
 */
export function trackCreations<R extends TaskRecord, S extends object>({
  toRecord,
  toBody,
}: Creation<R>): TaskFamily<R, S>['tracker'] {
  return (tasks) => ({
    async onAnswer(call, { work }) {
      if (!work) throw new Error('the answer names no task');
      const record = toRecord(call, work);
      await beginTask(tasks, call, record);
      const body = Buffer.from(JSON.stringify(toBody(record, call)));
      return { body, headers: {}, consumption: undefined };
    },
    onStream: async () => undefined,
    onStreamEnd: async () => undefined,
  });
}

/** Stores a task with its job, keeps its money reserved, and settles one that is over. */
export async function beginTask<R extends TaskRecord, S extends object>(
  tasks: TrackedTasks<R, S>,
  call: Call,
  record: R,
): Promise<void> {
  try {
    const entry = await tasks.add(call, record);
    await tasks.hold(call, record);
    await tasks.settle(entry);
  } catch (cause) {
    // The provider is at work: another try would make another task.
    throw new GatewayError('persistence_failed', { cause, retry: false });
  }
}

/** Members of a record from the call that creates the task. */
export function recordOf(call: Call): Omit<TaskRecord, 'id'> {
  const { answeredBy } = call.record;
  if (!answeredBy) throw new Error('nobody answered');
  const { model, route } = answeredBy;
  const { keyId, keyName, organizationId } = call.request.principal;
  return {
    payer: { keyId, keyName, organizationId },
    ...(call.origin && { origin: call.origin }),
    at: call.request.at,
    model: call.model.id,
    answeredBy: model.id,
    provider: route.provider.name,
    account: route.provider.id,
    upstreamModel: route.upstreamModel,
    pricing: route.pricing,
  };
}
