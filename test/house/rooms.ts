import { arrowsUp, circlesOf, toGraph } from './graph.ts';
import type { Numbers } from './ratchet.ts';
import { imports, linesOfRooms, modules, roomOf } from './tree.ts';

/**
 * What a room is divided into: every folder below it at any depth, with the files that are directly in it,
 * and each file of the room itself, which belongs to no folder.
 */
function partOf(file: string): string {
  const [room, ...path] = file.split('/');
  return path.length > 1 ? `${room}/${path.slice(0, -1).join('/')}` : file;
}

export interface Rooms {
  numbers: Numbers;
  /** The arrows and files that were counted, for messages. */
  details: Record<string, Record<string, string[]>>;
}

export function measureRooms(): Rooms {
  const rooms = [...new Set(modules.map(roomOf))];
  const arrows: Record<string, string[]> = {};
  const files: Record<string, string[]> = {};
  for (const room of rooms) {
    const own = modules.filter((file) => roomOf(file) === room).map(partOf);
    const inner = imports
      .filter(({ from, to }) => roomOf(from) === room && roomOf(to) === room)
      .map(({ from, to }): [string, string] => [partOf(from), partOf(to)]);
    arrows[room] = arrowsUp(toGraph(own, inner));
  }
  const edges = imports.map(({ from, to }): [string, string] => [from, to]);
  for (const file of circlesOf(toGraph(modules, edges)).flat())
    (files[roomOf(file)] ??= []).push(file);
  return {
    numbers: { lines: linesOfRooms(), arrowsUp: countAll(arrows), filesInCircles: countAll(files) },
    details: { arrowsUp: arrows, filesInCircles: files },
  };
}

function countAll(found: Record<string, readonly string[]>): Record<string, number> {
  const counts = Object.entries(found).map(([room, { length }]): [string, number] => [
    room,
    length,
  ]);
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}
