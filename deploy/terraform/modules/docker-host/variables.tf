# Variables of the environment are in environment.tf.

variable "gatehouse_version" {
  description = "Version of the images, such as 0.1.0."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[0-9]+\\.[0-9]+\\.[0-9]+", var.gatehouse_version))
    error_message = "gatehouse_version must be a version such as 0.1.0; latest is none."
  }
}

variable "image_registry" {
  description = "Registry of the images, and folder in it, such as registry.example.org/mirror; empty = images that were loaded on the host."
  type        = string
  default     = ""
  nullable    = false
}

variable "name" {
  description = "Begin of the names of containers, volumes and networks."
  type        = string
  default     = "gatehouse"
  nullable    = false

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,30}$", var.name))
    error_message = "name must be 1 to 31 lower-case letters, digits and hyphens, and begin with a letter."
  }
}

variable "publish_nodes_port" {
  description = "Publish nodes_port, so that nodes on other machines can enrol."
  type        = bool
  default     = false
  nullable    = false
}
