import { expect, it } from 'vitest';
import { parseInputEvents } from '../../../src/sessions/log/input-events.ts';

const content = [
  { type: 'text', text: 'Look.' },
  { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'no base64' } },
];

it.each([
  { type: 'user.message', content },
  { type: 'user.custom_tool_result', custom_tool_use_id: 'sevt_1', content },
  { type: 'user.tool_result', tool_use_id: 'sevt_1', content },
])('an attachment that nobody can read is refused with its path: $type', (event) => {
  const fault = { status: 400, param: 'events[0].content[1].source.data' };
  expect(() => parseInputEvents([event], 'events')).toThrow(expect.objectContaining(fault));
});
