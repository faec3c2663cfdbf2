import { onTestFinished } from 'vitest';
import type { CassetteInput } from '../../../src/providers/mock/tape/cassette.ts';
import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import type { MockServer } from '../../../src/providers/mock/mock-server.ts';

/** A mock server for one test, closed when the test is over. */
export async function useMockServer(
  reply?: NonNullable<CassetteInput['rules']>[number]['reply'],
): Promise<MockServer> {
  const server = await startMockServer({ cassette: reply ? { rules: [{ reply }] } : {} });
  onTestFinished(() => server.close());
  return server;
}
