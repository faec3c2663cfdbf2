import { Empty } from '../../parts/parts.tsx';

export function ConfigurationPage() {
  return <Empty title="Configuration are not here yet" command="gateway plan -f gateway.yaml" />;
}
