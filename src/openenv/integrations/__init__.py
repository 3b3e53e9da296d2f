"""Bridges to trainers: each in the shape that the trainer asks for."""
