import { changeDeployment } from '../../resources/change-deployment.ts';

export const run = changeDeployment({
  done: 'paused',
  act: (client, id, signal) => client.deployments.action(id, 'pause', signal),
});
