// Labels that a tracker could not take.
import { unfit } from '../../kit/endpoint.js';
import type { CommonConfig } from './tracker.js';

/** Jira's labels have no blanks. */
export function refuseSpacedLabels({ labels = [] }: CommonConfig): void {
  const at = labels.findIndex((label) => /\s/.test(label.replace(/\{\{[^{}]*\}\}/g, '')));
  if (at >= 0) throw unfit(`/config/labels/${at}`, 'has a blank, which labels of Jira cannot have', 'write a hyphen');
}

/** GitLab takes labels as one text with commas between them. */
export function refuseCommaLabels({ labels = [], priorities = {} }: CommonConfig): void {
  const at = labels.findIndex((label) => label.includes(','));
  if (at >= 0) throw unfit(`/config/labels/${at}`, 'has a comma, which separates labels', 'write two labels');
  for (const [severity, label] of Object.entries(priorities))
    if (label.includes(',')) throw unfit(`/config/priorities/${severity}`, 'has a comma', 'name one label');
}
