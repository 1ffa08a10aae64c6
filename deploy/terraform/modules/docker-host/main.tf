# One host with Docker: data plane, control plane and console, as compose.yaml has them. PostgreSQL and Redis are yours
# (database_url, redis_url); without them the control plane uses its embedded database.

locals {
  prefix  = var.image_registry == "" ? "" : "${trimsuffix(var.image_registry, "/")}/"
  program = ["/usr/lib/gatehouse/runtime/node", "/usr/lib/gatehouse/bin/gatehouse"]

  # facts of the containers
  common = {
    IN_CONTAINER = "1"
  }
  data_plane = merge(local.data_plane_environment, local.common, {
    GATEHOUSE_DATA        = "/var/lib/gatehouse"
    GATEHOUSE_CONTROL_URL = "http://control-plane:8090"
  })
  control_plane = merge(local.control_plane_environment, local.common, {
    GATEHOUSE_DATA  = "/var/lib/gatehouse"
    DATA_ADMIN_URLS = "http://data-plane:2019"
  })
  console = merge(local.console_environment, local.common, {
    GATEHOUSE_CONTROL_URL = "http://control-plane:8090"
  })
}

resource "docker_image" "plane" {
  for_each = toset(["data-plane", "control-plane"])

  name         = "${local.prefix}gatehouse/${each.key}:${var.gatehouse_version}"
  keep_locally = true
}

# between the containers; nothing in it is reached from outside
resource "docker_network" "internal" {
  name     = "${var.name}-internal"
  internal = true
}

resource "docker_network" "outside" {
  name = "${var.name}-outside"
}

resource "docker_volume" "node" {
  name = "${var.name}-node-data"
}

resource "docker_volume" "control" {
  name = "${var.name}-control-data"
}

resource "docker_container" "data_plane" {
  name          = "${var.name}-data-plane"
  image         = docker_image.plane["data-plane"].image_id
  restart       = "unless-stopped"
  read_only     = true
  security_opts = ["no-new-privileges:true"]
  tmpfs         = { "/tmp" = "" }
  env           = [for key, value in local.data_plane : "${key}=${value}" if value != ""]

  # requests under way end within drain_ms (8 s)
  destroy_grace_seconds = 30

  capabilities {
    drop = ["ALL"]
  }

  ports {
    internal = 8080
    external = tonumber(var.waf_port)
    ip       = var.waf_bind
  }

  dynamic "ports" {
    for_each = var.tls_edge == "on" ? [1] : []

    content {
      internal = 8443
      external = tonumber(var.ja3_port)
      ip       = var.waf_bind
    }
  }

  volumes {
    volume_name    = docker_volume.node.name
    container_path = "/var/lib/gatehouse"
  }

  networks_advanced {
    name    = docker_network.internal.name
    aliases = ["data-plane"]
  }

  networks_advanced {
    name = docker_network.outside.name
  }

  healthcheck {
    test         = concat(["CMD"], local.program, ["health", "data-plane"])
    interval     = "10s"
    timeout      = "5s"
    retries      = 12
    start_period = "60s"
  }
}

resource "docker_container" "control_plane" {
  name          = "${var.name}-control-plane"
  image         = docker_image.plane["control-plane"].image_id
  restart       = "unless-stopped"
  read_only     = true
  security_opts = ["no-new-privileges:true"]
  tmpfs         = { "/tmp" = "" }
  env           = [for key, value in local.control_plane : "${key}=${value}" if value != ""]

  destroy_grace_seconds = 60

  capabilities {
    drop = ["ALL"]
  }

  ports {
    internal = 8090
    external = tonumber(var.api_port)
    ip       = var.admin_bind
  }

  dynamic "ports" {
    for_each = var.publish_nodes_port && var.nodes_port != "" ? [1] : []

    content {
      internal = tonumber(var.nodes_port)
      external = tonumber(var.nodes_port)
    }
  }

  volumes {
    volume_name    = docker_volume.control.name
    container_path = "/var/lib/gatehouse"
  }

  networks_advanced {
    name    = docker_network.internal.name
    aliases = ["control-plane"]
  }

  networks_advanced {
    name = docker_network.outside.name
  }

  healthcheck {
    test         = concat(["CMD"], local.program, ["health", "control-plane"])
    interval     = "10s"
    timeout      = "5s"
    retries      = 12
    start_period = "60s"
  }
}

resource "docker_container" "console" {
  name          = "${var.name}-console"
  image         = docker_image.plane["control-plane"].image_id
  command       = ["console"]
  restart       = "unless-stopped"
  read_only     = true
  security_opts = ["no-new-privileges:true"]
  tmpfs         = { "/tmp" = "" }
  env           = [for key, value in local.console : "${key}=${value}" if value != ""]

  capabilities {
    drop = ["ALL"]
  }

  ports {
    internal = 3010
    external = tonumber(var.ui_port)
    ip       = var.admin_bind
  }

  networks_advanced {
    name    = docker_network.internal.name
    aliases = ["console"]
  }

  networks_advanced {
    name = docker_network.outside.name
  }

  healthcheck {
    test         = concat(["CMD"], local.program, ["health", "console"])
    interval     = "10s"
    timeout      = "5s"
    retries      = 12
    start_period = "60s"
  }
}
