import { Empty } from '../../parts/parts.tsx';

export function ServicesPage() {
  return <Empty title="Services are not here yet" command="gateway services list" />;
}
