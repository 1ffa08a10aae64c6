// All rules about objects of Kubernetes.
import type { Checked } from '../iac/rule.js';
import type { Manifest } from './manifests.js';
import { objectRules } from './object-rules.js';
import { podLimitRules } from './pod-limits.js';
import { podRules } from './pod-rules.js';

export const k8sRules: readonly Checked<Manifest>[] = [...podRules, ...podLimitRules, ...objectRules];
