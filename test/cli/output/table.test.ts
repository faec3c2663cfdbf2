import { describe, expect, it } from 'vitest';
import { createStyle } from '../../../src/cli/output/style.ts';
import { renderTable, type Column } from '../../../src/cli/output/table.ts';
import { verifies } from '../../requirements.ts';

interface Row {
  readonly name: string;
  readonly note: string;
  readonly at: string;
}

const ROW: Row = { name: 'one', note: 'short', at: '2026-11-29T10:00:00.123Z' };

const COLUMNS: readonly Column<Row>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'NOTE', value: ({ note }) => note, isCut: true },
  { title: 'AT', value: ({ at }) => at, weight: 2 },
  { title: 'HIDDEN', value: () => 'kept', weight: 0 },
  { title: 'LAST', value: () => 'last' },
];

const render = (row: Partial<Row>, width?: number) =>
  renderTable([{ ...ROW, ...row }], COLUMNS, { style: createStyle(false, width), empty: '' });

const widest = (text: string) => Math.max(...text.split('\n').map((line) => line.length));

describe('a table', () => {
  it('shows instants in whole seconds', async () => {
    expect(await render({})).toContain('2026-11-29T10:00:00Z');
  });

  it(
    verifies('cli.tables.width', 'keeps columns without weight for those who ask for every one'),
    async () => {
      expect(await render({})).not.toContain('HIDDEN');
      expect(await render({}, Infinity)).toMatch(/NAME +NOTE +AT +HIDDEN +LAST/);
    },
  );

  it('cuts a text first that is of use without its end', async () => {
    const text = await render({ note: 'n'.repeat(300) });
    expect(widest(text)).toBeLessThanOrEqual(120);
    expect(text).toMatch(/n{20,}…/);
    expect(text).toContain('LAST');
  });

  it('then leaves out the columns of least weight, of these the last one first', async () => {
    const name = 'x'.repeat(80);
    const text = await render({ name, note: 'n'.repeat(300) });
    expect(text.split('\n')[0]).toMatch(/^NAME +AT$/);
    expect(text).toContain(name);
    const wide = await render({ name, note: 'n'.repeat(300) }, Infinity);
    expect(wide).toContain('n'.repeat(300));
  });

  it('leaves out empty columns before others', async () => {
    const text = await render({ name: 'x'.repeat(110), note: '', at: '' });
    expect(text.split('\n')[0]).toMatch(/^NAME +LAST$/);
    expect((await render({ note: '', at: '' })).split('\n')[0]).toMatch(/^NAME +NOTE +AT +LAST$/);
  });

  it('never leaves out or cuts its first column', async () => {
    expect(await render({ name: 'x'.repeat(200) })).toContain('x'.repeat(200));
  });

  it('counts characters that take two columns as two', async () => {
    const text = await render({ name: '字'.repeat(55), note: 'n'.repeat(9) });
    expect(text.split('\n')[0]).toMatch(/^NAME *$/);
  });
});
