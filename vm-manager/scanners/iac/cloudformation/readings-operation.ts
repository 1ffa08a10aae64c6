// AWS: who may do what, what is recorded, what runs.
import { Unknown, isObject, type Value } from '../terraform/values.js';
import { at, mapsAt, valueAt, type Beside, type Properties, type Reading } from './reading.js';
import { asValue, type Known } from './known.js';

const policy = { raw: ['PolicyDocument'], names: { PolicyDocument: 'policy' } };

/** Policies that stand in what they are for. */
const inline =
  (type: string, owner: string): NonNullable<Reading['beside']> =>
  (properties, name) =>
    mapsAt(properties, 'Policies').flatMap(({ fields, line }): readonly Beside[] => {
      const document =
        at(fields, 'PolicyDocument') ?? (fields.has('Statement') ? { line, node: mapOf(fields, line) } : null);
      if (document === null) return [];
      return [
        {
          type,
          line,
          fill: (draft) => {
            draft.set('policy', asValue(document.node), document.line);
            const kind = `aws_iam_${owner}`;
            draft.set(owner, new Unknown(`${kind}.${name}.id`), line);
          },
        },
      ];
    });
const mapOf = (fields: Properties, line: number): Known => ({ kind: 'map', line, fields, isOpen: false });

/** Policies that are attached to users by name. */
const attached =
  (path: string): NonNullable<Reading['beside']> =>
  (properties) => {
    const field = at(properties, path);
    return field?.node.kind === 'list' && field.node.items.length > 0
      ? [{ type: 'aws_iam_user_policy_attachment', line: field.line, fill: () => undefined }]
      : [];
  };
const both =
  (...all: readonly NonNullable<Reading['beside']>[]): NonNullable<Reading['beside']> =>
  (properties, name) =>
    all.flatMap((one) => one(properties, name));

/** Names begin with a small letter, as in the definitions that Terraform is given. */
const smallNames = (value: Value): Value => {
  if (Array.isArray(value)) return (value as readonly Value[]).map(smallNames);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [`${name.slice(0, 1).toLowerCase()}${name.slice(1)}`, smallNames(one)]),
  );
};

const functionReading: Reading = {
  as: 'aws_lambda_function',
  raw: ['Environment.Variables'],
  names: { Tracing: 'tracing_config.mode' },
};

const stateMachine: Reading = {
  as: 'aws_sfn_state_machine',
  names: {
    Tracing: 'tracing_configuration',
    Logging: 'logging_configuration',
  },
};

export const operationReadings: Readonly<Record<string, Reading>> = {
  'AWS::IAM::Policy': { as: 'aws_iam_policy', ...policy, beside: attached('Users') },
  'AWS::IAM::ManagedPolicy': { as: 'aws_iam_policy', ...policy, beside: attached('Users') },
  'AWS::IAM::RolePolicy': { as: 'aws_iam_role_policy', ...policy },
  'AWS::IAM::UserPolicy': { as: 'aws_iam_user_policy', ...policy },
  'AWS::IAM::GroupPolicy': { as: 'aws_iam_group_policy', ...policy },
  'AWS::IAM::Role': {
    as: 'aws_iam_role',
    raw: ['AssumeRolePolicyDocument', 'Policies'],
    names: { AssumeRolePolicyDocument: 'assume_role_policy', Policies: 'policies_of_template' },
    beside: inline('aws_iam_role_policy', 'role'),
  },
  'AWS::IAM::User': {
    as: 'aws_iam_user',
    raw: ['Policies'],
    names: { UserName: 'name', Policies: 'policies_of_template' },
    beside: both(inline('aws_iam_user_policy', 'user'), attached('ManagedPolicyArns')),
  },
  'AWS::IAM::Group': {
    as: 'aws_iam_group',
    raw: ['Policies'],
    names: { GroupName: 'name', Policies: 'policies_of_template' },
    beside: inline('aws_iam_group_policy', 'group'),
  },
  'AWS::IAM::AccessKey': { as: 'aws_iam_access_key', names: { UserName: 'user' } },
  'AWS::CloudTrail::Trail': {
    as: 'aws_cloudtrail',
    names: {
      CloudWatchLogsLogGroupArn: 'cloud_watch_logs_group_arn',
      EventSelectors: 'event_selector',
      'EventSelectors.DataResources': 'data_resource',
      AdvancedEventSelectors: 'advanced_event_selector',
    },
  },
  'AWS::Logs::LogGroup': { as: 'aws_cloudwatch_log_group' },
  'AWS::Config::ConfigurationAggregator': {
    as: 'aws_config_configuration_aggregator',
    names: {
      AccountAggregationSources: 'account_aggregation_source',
      'AccountAggregationSources.AllAwsRegions': 'all_regions',
      'OrganizationAggregationSource.AllAwsRegions': 'all_regions',
    },
  },
  'AWS::CodeBuild::Project': { as: 'aws_codebuild_project' },
  'AWS::ECR::Repository': {
    as: 'aws_ecr_repository',
    raw: ['RepositoryPolicyText'],
    beside: (properties) => {
      const field = at(properties, 'RepositoryPolicyText');
      if (field === undefined) return [];
      const { line, node } = field;
      return [{ type: 'aws_ecr_repository_policy', line, fill: (draft) => draft.set('policy', asValue(node), line) }];
    },
  },
  'AWS::ECS::Cluster': { as: 'aws_ecs_cluster', names: { ClusterSettings: 'setting' } },
  'AWS::ECS::TaskDefinition': {
    as: 'aws_ecs_task_definition',
    raw: ['ContainerDefinitions'],
    names: { Volumes: 'volume', 'Volumes.EFSVolumeConfiguration': 'efs_volume_configuration' },
    values: { ContainerDefinitions: smallNames },
  },
  'AWS::EKS::Cluster': {
    as: 'aws_eks_cluster',
    names: { ResourcesVpcConfig: 'vpc_config', Logging: 'logging_of_template' },
    more: (draft, properties) => {
      const logging = at(properties, 'Logging');
      if (logging === undefined) return;
      const types = at(properties, 'Logging.ClusterLogging.EnabledTypes');
      const all = mapsAt(properties, 'Logging.ClusterLogging.EnabledTypes').map(
        ({ fields }) => valueAt(fields, 'Type') ?? '',
      );
      const isKnown = types?.node.kind === 'list' || (types === undefined && logging.node.kind === 'map');
      const isWhole = isKnown && !all.some((one) => one instanceof Unknown);
      draft.set('enabled_cluster_log_types', isWhole ? all : new Unknown(null), (types ?? logging).line);
    },
  },
  'AWS::Lambda::Function': functionReading,
  'AWS::Serverless::Function': { ...functionReading, beside: inline('aws_iam_role_policy', 'role') },
  'AWS::Lambda::Permission': { as: 'aws_lambda_permission' },
  'AWS::StepFunctions::StateMachine': {
    ...stateMachine,
    names: { TracingConfiguration: 'tracing_configuration', LoggingConfiguration: 'logging_configuration' },
  },
  'AWS::Serverless::StateMachine': stateMachine,
};
