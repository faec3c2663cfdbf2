import { describe, expect, it } from 'vitest';
import { createDiskRoom } from '../../src/store/backends/lmdb/disk-room.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const MIB = 1024 * 1024;

function setUp(free: number) {
  const clock = createFakeClock();
  const disk = { free, asked: 0 };
  const room = createDiskRoom({
    clock,
    directory: '/data/store',
    freeBytes() {
      disk.asked++;
      return disk.free;
    },
  });
  return { clock, disk, room };
}

describe('the room on the disk', () => {
  it('is asked for again after a tenth of a second while there is plenty', () => {
    const { clock, disk, room } = setUp(100_000 * MIB);
    for (let i = 0; i < 50; i++) room.take(1_000);
    expect(disk.asked).toBe(1);
    clock.advance(100);
    disk.free = 63 * MIB;
    expect(() => room.take(1)).toThrow('the disk of /data/store is full: 63 MiB are left');
  });

  it('is asked for before every group when there is less than a gibibyte', () => {
    const { disk, room } = setUp(1_000 * MIB);
    room.take(1);
    disk.free = 64 * MIB;
    expect(() => room.take(1)).toThrow('64 MiB are left');
    expect(disk.asked).toBe(2);
  });

  it('shrinks by what is written before it is asked for again', () => {
    const { disk, room } = setUp(1_100 * MIB);
    room.take(50 * MIB);
    disk.free = 70 * MIB;
    expect(() => room.take(4 * MIB)).toThrow('70 MiB are left');
    expect(disk.asked).toBe(2);
  });
});
