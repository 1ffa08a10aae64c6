// All rules about Terraform.
import { awsAccessRules } from './aws/access.js';
import { awsAnalysisRules } from './aws/analysis.js';
import { awsBucketRules } from './aws/buckets.js';
import { awsContainerRules } from './aws/containers.js';
import { awsDeliveryRules } from './aws/delivery.js';
import { awsIdentityRules } from './aws/identity.js';
import { awsLogRules } from './aws/logs.js';
import { awsMachineRules } from './aws/machines.js';
import { awsNetworkRules } from './aws/network.js';
import { awsQueueRules } from './aws/queues.js';
import { awsDatabaseRules, awsDiskRules } from './aws/storage.js';
import type { TerraformRule } from './rule.js';

export const terraformRules: readonly TerraformRule[] = [
  ...awsBucketRules,
  ...awsDiskRules,
  ...awsDatabaseRules,
  ...awsQueueRules,
  ...awsNetworkRules,
  ...awsDeliveryRules,
  ...awsMachineRules,
  ...awsIdentityRules,
  ...awsLogRules,
  ...awsContainerRules,
  ...awsAnalysisRules,
  ...awsAccessRules,
];
