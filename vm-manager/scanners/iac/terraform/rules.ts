// All rules about Terraform.
import { awsNetworkRules } from './aws/network.js';
import { awsServiceRules } from './aws/services.js';
import { awsStorageRules } from './aws/storage.js';
import type { TerraformRule } from './rule.js';

export const terraformRules: readonly TerraformRule[] = [...awsStorageRules, ...awsNetworkRules, ...awsServiceRules];
