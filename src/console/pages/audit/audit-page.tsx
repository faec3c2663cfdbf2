import { Empty } from '../../parts/parts.tsx';

export function AuditPage() {
  return <Empty title="Audit are not here yet" command="gateway audit list" />;
}
