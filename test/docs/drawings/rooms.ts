import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { arrow, box, curve, line, type Point, svg } from './svg.ts';

const SRC = fileURLToPath(new URL('../../../src/', import.meta.url));

/** Each room (folder of `src/`) with the rooms that it imports, by name. */
export function readRooms(): Map<string, Set<string>> {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && name.includes('/'))
    .sort();
  const rooms = new Map(files.map((file) => [roomOf(file), new Set<string>()]));
  for (const file of files) {
    const text = readFileSync(join(SRC, file), 'utf8');
    for (const [, path = ''] of text.matchAll(/(?:\bfrom\s+|\bimport\()'(\.[^']+)'/g)) {
      const target = relative(SRC, join(SRC, dirname(file), path));
      const isOther = target.includes('/') && roomOf(target) !== roomOf(file);
      if (isOther) rooms.get(roomOf(file))?.add(roomOf(target));
    }
  }
  return rooms;
}

const ROOM = 108;
const LANE = 14;
const HEIGHT = 34;
const STEP = 74;
const GAP = 30;
const PAGE = 760;

/** A room, or the place where an arrow passes the rooms of a floor. */
interface Spot {
  name: string;
  isRoom: boolean;
  /** Names of the spots one floor below that arrows from here go to. */
  below: string[];
}

/**
 * Draws every room on the lowest floor that is above all it imports. An arrow goes to a room that is
 * imported, unless another imported room leads there anyway.
 */
export function drawRooms(): string {
  const floors = toFloors(readRooms());
  const places = placeSpots(floors);
  const arrows: string[] = [];
  for (const { name, below, isRoom } of floors.flat()) {
    const from = places.get(name) as Point;
    if (!isRoom) arrows.push(line(from, { x: from.x, y: from.y + HEIGHT }));
    for (const target of below) {
      const to = places.get(target) as Point;
      const draw = floors.flat().some((spot) => spot.name === target && spot.isRoom)
        ? arrow
        : curve;
      arrows.push(draw({ x: from.x, y: from.y + HEIGHT }, to, 'y'));
    }
  }
  const boxes = floors.flat().filter(({ isRoom }) => isRoom);
  return svg(
    {
      width: PAGE,
      height: floors.length * STEP + GAP,
      title: 'The rooms of src and what they import',
    },
    [
      ...arrows,
      ...boxes.map(({ name }) => {
        const { x, y } = places.get(name) as Point;
        return box({ x: x - ROOM / 2, y, width: ROOM, height: HEIGHT, lines: [name] });
      }),
    ],
  );
}

/** The floors from the lowest on, with a spot on each floor that an arrow passes. */
function toFloors(rooms: Map<string, Set<string>>): Spot[][] {
  const floorOf = (name: string): number =>
    1 + Math.max(-1, ...[...(rooms.get(name) ?? [])].map(floorOf));
  const floors: Spot[][] = [];
  for (const name of [...rooms.keys()].sort()) {
    const room: Spot = { name, isRoom: true, below: [] };
    (floors[floorOf(name)] ??= []).push(room);
    for (const target of direct(name, rooms)) {
      let above = room;
      for (let floor = floorOf(name) - 1; floor > floorOf(target); floor -= 1) {
        const lane: Spot = { name: `${name} to ${target}, ${floor}`, isRoom: false, below: [] };
        (floors[floor] ??= []).push(lane);
        above.below.push(lane.name);
        above = lane;
      }
      above.below.push(target);
    }
  }
  return floors;
}

/** Middle of the upper edge of each spot; one that leads to the left stands to the left. */
function placeSpots(floors: Spot[][]): Map<string, Point> {
  const places = new Map<string, Point>();
  const aim = ({ below }: Spot): number =>
    below.reduce((sum, name) => sum + (places.get(name)?.x ?? 0), 0) / Math.max(1, below.length);
  floors.forEach((spots, floor) => {
    const inOrder = spots.toSorted((a, b) => aim(a) - aim(b));
    const widths = inOrder.map(({ isRoom }) => (isRoom ? ROOM : LANE));
    const whole = widths.reduce((sum, width) => sum + width + GAP, -GAP);
    let x = (PAGE - whole) / 2;
    inOrder.forEach(({ name }, at) => {
      const width = widths[at] as number;
      places.set(name, { x: x + width / 2, y: GAP + (floors.length - 1 - floor) * STEP });
      x += width + GAP;
    });
  });
  return places;
}

/** Rooms that a room imports and that no other room it imports leads to. */
function direct(name: string, rooms: Map<string, Set<string>>): string[] {
  const all = [...(rooms.get(name) ?? [])].sort();
  const leadsTo = (from: string, to: string): boolean =>
    [...(rooms.get(from) ?? [])].some((next) => next === to || leadsTo(next, to));
  return all.filter((room) => !all.some((other) => other !== room && leadsTo(other, room)));
}

const roomOf = (file: string): string => file.split('/')[0] as string;
