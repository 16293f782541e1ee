module fleetwright.dev/oracles/regexp

go 1.26.0
