import { expect, it } from 'vitest';
import { replyForm } from '../../../src/runtime/entry/reply-form.ts';
import { verifies } from '../../requirements.ts';

it(verifies('mcp.official-client', 'mcp.ndjson', 'answers as Accept says'), () => {
  const official = 'application/json, text/event-stream';
  expect(replyForm(official, false)).toBe('json');
  expect(replyForm(official, true)).toBe('sse');
  expect(replyForm('text/event-stream', false)).toBe('sse');
  expect(replyForm('application/json', true)).toBe('json');
  expect(replyForm('application/json, text/event-stream;q=0', true)).toBe('json');
  expect(replyForm(undefined, true)).toBe('json');
  expect(replyForm('*/*', true)).toBe('json');
  expect(replyForm('application/x-ndjson', false)).toBe('ndjson');
  expect(replyForm('application/json, Application/X-NDJSON;q=0.5', true)).toBe('ndjson');
  expect(replyForm('application/x-ndjson;q=0, application/json', true)).toBe('json');
});
