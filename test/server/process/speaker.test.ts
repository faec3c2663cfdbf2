import { describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../../src/config/source/diagnostic.ts';
import { createSpeaker } from '../../../src/server/process/speaker.ts';
import type { SpeakerOptions } from '../../../src/server/process/speaker.ts';
import { verifies } from '../../requirements.ts';

function speak(options: Omit<SpeakerOptions, 'write'>) {
  let said = '';
  const speaker = createSpeaker({ ...options, write: (text) => void (said += text) });
  return { speaker, said: () => said };
}

const fault = (severity: Diagnostic['severity']): Diagnostic => {
  const place = { file: 'gateway.yaml', line: 3, column: 5, path: 'models[0]' };
  return { ...place, severity, message: 'no such route', hint: 'declare one' };
};
const TWO_LINES = 'opening a port:\n  to everyone\n';

describe('the words of a start', () => {
  it('are text on a terminal', () => {
    const { speaker, said } = speak({ format: 'text', isTerminal: true });
    speaker.note(TWO_LINES);
    speaker.note(undefined);
    speaker.tell([fault('warning')]);
    speaker.fail(new Error('the port is taken'));
    expect(speaker.isForPeople).toBe(true);
    expect(said()).toMatch(
      /^opening a port:\n {2}to everyone\ngateway.yaml:3:5: warning: .*no such route[^]*\ngateway: the port is taken\n$/,
    );
  });

  it.each([true, false])(
    verifies('start.banner', 'are only lines of JSON where the log has them (terminal: %s)'),
    (isTerminal) => {
      const { speaker, said } = speak({ format: 'json', isTerminal });
      speaker.note(TWO_LINES);
      speaker.tell([fault('warning'), fault('error')]);
      speaker.fail(new Error('the port is taken'));
      expect(speaker.isForPeople).toBe(false);
      const lines = said().trimEnd().split('\n');
      expect(lines.map((line) => JSON.parse(line))).toMatchObject([
        { level: 'info', message: 'opening a port: to everyone' },
        { level: 'warn', message: 'no such route', at: 'gateway.yaml:3:5', path: 'models[0]' },
        { level: 'error', message: 'no such route', hint: 'declare one' },
        { level: 'error', reason: 'the port is taken' },
      ]);
    },
  );

  it('are lines of the log without a terminal, until a fault ends the start', () => {
    const { speaker, said } = speak({ format: 'text', isTerminal: false });
    speaker.note(TWO_LINES);
    speaker.tell([fault('warning')]);
    const stamped = /^\d\d:\d\d:\d\d\.\d{3} (info|warn ) /;
    const lines = said().trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line).toMatch(stamped);
    speaker.tell([fault('error')]);
    speaker.fail(new Error('the port is taken'));
    expect(said()).toMatch(/\ngateway.yaml:3:5: error: .*\n[^]*gateway: the port is taken\n$/);
  });
});
