#!/bin/sh
# {% not a template
echo "{{ name }}"   
