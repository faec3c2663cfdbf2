import { Refusal } from './refusal.ts';

/** Bounds how many streams each organization has open. */
export interface StreamRoom {
  /** Most slots of one organization on one process. */
  readonly max: number;
  /** Returns the release of so many slots, by default one; undefined when fewer are free. */
  enter(organization: string, slots?: number): (() => void) | undefined;
}

/** Each stream is a socket and a few kilobytes; each task that it follows reads a log with every change. */
export const MAX_STREAMS = 500;

export function createStreamRoom(max: number): StreamRoom {
  const open = new Map<string, number>();
  return {
    max,
    enter(organization, slots = 1) {
      const count = open.get(organization) ?? 0;
      if (count + slots > max) return undefined;
      open.set(organization, count + slots);
      let isIn = true;
      return () => {
        if (!isIn) return;
        isIn = false;
        const left = (open.get(organization) ?? slots) - slots;
        if (left > 0) open.set(organization, left);
        else open.delete(organization);
      };
    },
  };
}

/** @throws Refusal 429 */
export function enterRoom(room: StreamRoom, organization: string, slots?: number): () => void {
  const leave = room.enter(organization, slots);
  if (leave) return leave;
  const message = `an organization has at most ${room.max} event streams and tasks on them; close a stream first`;
  throw new Refusal(429, message);
}
