# The chart, with its values from variables. The providers helm and kubernetes are configured by the caller: the module
# works in every cluster.

locals {
  chart      = var.chart == "" ? "${path.module}/../../../helm/gatehouse" : var.chart
  generated  = toset(["auth-session-secret", "settings-encryption-secret", "data-admin-token", "console-token", "nodes-join-secret", "gatehouse-admin-token", "admin-initial-password", "postgres-password"])
  is_scaling = var.data_plane_replicas_max > var.data_plane_replicas_min

  values = {
    image = {
      registry = var.image_registry
      tag      = var.image_tag
    }
    secrets = {
      existingSecret = var.secret_name
    }
    admin = {
      email = var.admin_email
    }
    upstream = var.upstream
    database = {
      mode           = var.database_mode
      existingSecret = var.database_secret_name
    }
    redis = {
      mode           = var.redis_mode
      existingSecret = var.redis_secret_name
    }
    join = {
      nodesMax = min(999, max(100, var.data_plane_replicas_max * 2))
    }
    dataPlane = {
      replicas = var.data_plane_replicas_min
      workers  = var.data_plane_workers
      resources = {
        requests = { cpu = "${var.data_plane_workers * 500}m", memory = "${512 * var.data_plane_workers}Mi" }
        limits   = { cpu = tostring(var.data_plane_workers), memory = "${1024 * var.data_plane_workers}Mi" }
      }
      autoscaling = {
        enabled     = local.is_scaling
        minReplicas = var.data_plane_replicas_min
        maxReplicas = var.data_plane_replicas_max
      }
      env = { for key, value in var.data_plane_environment : key => value if value != null }
    }
    controlPlane = {
      replicas = var.control_plane_replicas
      persistence = {
        enabled = var.database_mode == "embedded"
      }
      env = { for key, value in var.control_plane_environment : key => value if value != null }
    }
    console = {
      env = { for key, value in var.console_environment : key => value if value != null }
    }
  }
}

resource "kubernetes_namespace_v1" "this" {
  count = var.create_namespace ? 1 : 0

  metadata {
    name = var.namespace
    labels = {
      "pod-security.kubernetes.io/enforce" = "restricted"
    }
  }
}

resource "random_password" "this" {
  for_each = var.create_secret ? local.generated : toset([])

  length  = 43
  special = false
}

resource "kubernetes_secret_v1" "this" {
  count = var.create_secret ? 1 : 0

  metadata {
    name      = var.secret_name
    namespace = var.namespace
  }

  data = { for key in local.generated : key => random_password.this[key].result }

  depends_on = [kubernetes_namespace_v1.this]
}

resource "helm_release" "this" {
  name      = var.name
  namespace = var.namespace
  chart     = local.chart
  values    = concat([yamlencode(local.values)], var.values)
  atomic    = true
  wait      = true
  timeout   = var.timeout_seconds

  lifecycle {
    precondition {
      condition     = var.data_plane_replicas_max >= var.data_plane_replicas_min
      error_message = "data_plane_replicas_max must not be less than data_plane_replicas_min."
    }
    precondition {
      condition     = var.database_mode != "embedded" || var.control_plane_replicas == 1
      error_message = "control_plane_replicas must be 1 with database_mode embedded: several control planes need one PostgreSQL."
    }
  }

  depends_on = [kubernetes_namespace_v1.this, kubernetes_secret_v1.this]
}
