import { describe, expect, it } from 'vitest';
import { collect } from '../../src/client/pages.ts';
import { tailSession } from '../../src/client/tail-session.ts';
import { verifies } from '../requirements.ts';
import { instantClock } from './instant-clock.ts';

describe('tailSession', () => {
  it(
    verifies('cli.tail.reconnect', 'gives up when connections bring nothing again and again'),
    async () => {
      const clock = instantClock();
      let opened = 0;
      const events = tailSession(
        {
          clock,
          random: () => 0,
          async *history() {},
          open: async () => {
            opened++;
            return new Blob([]).stream();
          },
        },
        { id: 'sess_1', untilRest: false, signal: undefined },
      );
      await expect(collect(events)).rejects.toMatchObject({ code: 'connection_lost' });
      expect(opened).toBe(8);
      expect(clock.pauses).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 10_000]);
    },
  );
});
