import { Empty } from '../../parts/parts.tsx';

export function KeysPage() {
  return <Empty title="Keys are not here yet" command="gateway keys list" />;
}
