import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLog } from '../../src/core/log.ts';
import { oneLine, printable, printableColoured, printableJson } from '../../src/core/printable.ts';
import { verifies } from '../requirements.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { NASTY, UNPRINTABLE } from '../support/nasty-name.ts';
import { anyCharacter } from '../support/text/any-character.ts';

describe('text from elsewhere', () => {
  it('loses what drives a terminal, and keeps line feeds, tabs and every other letter', () => {
    expect(printable(`a\n\tb ä שלום 🙂${NASTY}`)).toBe('a\n\tb ä שלום 🙂ab\nc\nde[31mfghijk');
    expect(oneLine('a\r\nb\nc\td')).toBe('a b c d');
  });

  it('is one line without anything unprintable, whatever it was', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        expect(oneLine(text)).not.toMatch(/[\n\t]/);
        expect(oneLine(text)).not.toMatch(UNPRINTABLE);
        expect(JSON.parse(printableJson(JSON.stringify(text)))).toBe(text);
        expect(printableJson(JSON.stringify(text))).not.toMatch(UNPRINTABLE);
      }),
    );
  });

  it('keeps colours that are on already', () => {
    expect(printableColoured('\u001b[1mbold\u001b[22m\u001b[2J\u202e')).toBe(
      '\u001b[1mbold\u001b[22m[2J',
    );
  });
});

describe('a log line', () => {
  it.each(['text', 'json'] as const)(
    verifies('output.names.no-bidi-or-breaks', 'stays one printable line as %s'),
    (format) => {
      let written = '';
      const clock = createFakeClock();
      const log = createLog({ clock, level: 'info', format, write: (lines) => (written += lines) });
      log.warn(`provider ${NASTY} fails`, { model: NASTY, names: [NASTY] });
      log.flush();
      expect(written.split('\n')).toHaveLength(2);
      expect(written).not.toMatch(UNPRINTABLE);
      if (format === 'json') expect(JSON.parse(written)).toMatchObject({ model: NASTY });
    },
  );
});
