output "console_url" {
  description = "The console, as the host sees it."
  value       = "http://${var.admin_bind}:${var.ui_port}/"
}

output "traffic_port" {
  description = "The port that protects."
  value       = tonumber(var.waf_port)
}
