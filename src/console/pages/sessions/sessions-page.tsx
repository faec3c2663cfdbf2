import { Empty } from '../../parts/parts.tsx';

export function SessionsPage() {
  return <Empty title="Sessions are not here yet" command="gateway sessions list" />;
}
