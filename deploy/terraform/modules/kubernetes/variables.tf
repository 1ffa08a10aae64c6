# Variables of the environment are in environment.tf.

variable "name" {
  description = "Name of the helm release."
  type        = string
  default     = "gatehouse"
  nullable    = false

  validation {
    condition     = can(regex("^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$", var.name))
    error_message = "name must be 1 to 40 lower-case letters, digits and hyphens, and begin with a letter."
  }
}

variable "namespace" {
  description = "Namespace; it has to exist unless create_namespace is true."
  type        = string
  default     = "gatehouse"
  nullable    = false
}

variable "create_namespace" {
  description = "Make the namespace, with the pod security standard restricted."
  type        = bool
  default     = true
  nullable    = false
}

variable "chart" {
  description = "The chart: a directory, or the file gatehouse-VERSION.tgz of a release; empty = the one beside this module."
  type        = string
  default     = ""
  nullable    = false
}

variable "image_registry" {
  description = "Registry of the images, and folder in it; empty = images that the nodes have."
  type        = string
  default     = ""
  nullable    = false
}

variable "image_tag" {
  description = "Tag of the images; empty = the version of the chart."
  type        = string
  default     = ""
  nullable    = false
}

variable "create_secret" {
  description = "Make the Secret with fresh secrets. They are then in the state of Terraform: keep that encrypted, or make the Secret yourself and say false."
  type        = bool
  default     = false
  nullable    = false
}

variable "secret_name" {
  description = "Secret with the keys that docs/kubernetes.md lists."
  type        = string
  default     = "gatehouse"
  nullable    = false
}

variable "admin_email" {
  description = "First login."
  type        = string
  default     = "admin@gatehouse.local"
  nullable    = false

  validation {
    condition     = can(regex("^[^\\s@]+@[^\\s@]+$", var.admin_email))
    error_message = "admin_email must be an e-mail address."
  }
}

variable "upstream" {
  description = "Application behind the site that exists at first, such as http://shop.default.svc:3000; empty = none."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = can(regex("^(https?://[^\\s]+)?$", var.upstream))
    error_message = "upstream must be a URL such as http://shop.default.svc:3000."
  }
}

variable "database_mode" {
  description = "external (a Secret with the key database-url), bundled (for trials) or embedded (one control plane)."
  type        = string
  default     = "external"
  nullable    = false

  validation {
    condition     = contains(["external", "bundled", "embedded"], var.database_mode)
    error_message = "database_mode must be one of external, bundled, embedded."
  }
}

variable "database_secret_name" {
  description = "Secret with the key database-url."
  type        = string
  default     = "gatehouse-database"
  nullable    = false
}

variable "redis_mode" {
  description = "none, external (a Secret with the key redis-url) or bundled (for trials)."
  type        = string
  default     = "none"
  nullable    = false

  validation {
    condition     = contains(["none", "external", "bundled"], var.redis_mode)
    error_message = "redis_mode must be one of none, external, bundled."
  }
}

variable "redis_secret_name" {
  description = "Secret with the key redis-url."
  type        = string
  default     = "gatehouse-redis"
  nullable    = false
}

variable "data_plane_replicas_min" {
  description = "Nodes at least."
  type        = number
  default     = 2
  nullable    = false

  validation {
    condition     = var.data_plane_replicas_min >= 1 && var.data_plane_replicas_min <= 999
    error_message = "data_plane_replicas_min must be a number from 1 to 999."
  }
}

variable "data_plane_replicas_max" {
  description = "Nodes at most; the same as data_plane_replicas_min = no autoscaling."
  type        = number
  default     = 10
  nullable    = false

  validation {
    condition     = var.data_plane_replicas_max >= 1 && var.data_plane_replicas_max <= 999
    error_message = "data_plane_replicas_max must be a number from 1 to 999."
  }
}

variable "data_plane_workers" {
  description = "Threads of a node that serve; each gets a processor."
  type        = number
  default     = 2
  nullable    = false

  validation {
    condition     = var.data_plane_workers >= 1 && var.data_plane_workers <= 64
    error_message = "data_plane_workers must be a number from 1 to 64."
  }
}

variable "control_plane_replicas" {
  description = "Control planes; more than one needs database_mode external or bundled."
  type        = number
  default     = 1
  nullable    = false

  validation {
    condition     = var.control_plane_replicas >= 1 && var.control_plane_replicas <= 20
    error_message = "control_plane_replicas must be a number from 1 to 20."
  }
}

variable "values" {
  description = "Other values of the chart, as texts of YAML; later ones win."
  type        = list(string)
  default     = []
  nullable    = false
}

variable "timeout_seconds" {
  description = "How long an installation or an upgrade may take before it is taken back."
  type        = number
  default     = 900
  nullable    = false
}
