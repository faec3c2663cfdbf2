import { counted } from '../../../core/counted.ts';
import type { AuditVerdict } from '../../../client/audit.ts';
import { EXIT } from '../../exit-codes.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'audit verify'> = async ({ context }) => {
  const client = await context.connect();
  const verdict = await client.audit.verify(context.signal);
  const { fault } = verdict;
  if (fault === null) return { data: verdict, text: soundText(verdict) };
  return {
    data: verdict,
    text: '',
    failure: {
      code: 'audit_changed',
      message: `the audit log is not as it was written: ${fault.message}`,
      exitCode: EXIT.failed.code,
    },
  };
};

function soundText({ entries, seals, sealed_until: until, removed_before: cut }: AuditVerdict) {
  const parts = [
    `the audit log is sound: ${counted(entries, 'entry', 'entries')}, ${counted(seals, 'seal')}`,
    until === null ? '' : `, sealed until ${until}`,
    cut === null ? '' : `; entries from before ${cut} are removed by retention`,
  ];
  return parts.join('');
}
