import { afterEach, expect, it, vi } from 'vitest';
import type { ConsoleSession } from '../../../src/console/api/views.ts';
import { createConsole } from '../../../src/console/frame/state.ts';

const ORIGIN = 'http://desk.test:9000';
const SESSION: ConsoleSession = {
  id: 'a',
  csrf: 'b',
  key: { id: 'key_1', name: 'web', scopes: null, role: null },
  organization: { id: 'org_1', name: 'home' },
  api_url: null,
  expires_at: '2026-11-23T10:00:00.000Z',
};

afterEach(() => void vi.unstubAllGlobals());

it('names the origin of the API for what is copied', () => {
  const window = Object.assign(new EventTarget(), {
    localStorage: { getItem: () => 'light', setItem: () => undefined },
    document: Object.assign(new EventTarget(), { documentElement: { dataset: {} } }),
    location: { origin: ORIGIN },
    fetch: globalThis.fetch,
    setInterval: () => 0,
  });
  vi.stubGlobal('window', window);
  const { apiOrigin, adopt } = createConsole(window as unknown as Window & typeof globalThis);
  expect(apiOrigin()).toBe(ORIGIN);
  adopt(SESSION);
  expect(apiOrigin()).toBe(ORIGIN);
  adopt({ ...SESSION, api_url: 'https://llm.example' });
  expect(apiOrigin()).toBe('https://llm.example');
});
